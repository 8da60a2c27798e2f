<?php // requires: php-cli php-pgsql
// docs/clients.md: PDO
function bodies(array $rows): string {
    return implode(',', array_column($rows, 'body'));
}
echo 'version ', PHP_VERSION, "\n";
echo "id $id\n";
echo "one $order[body]\n";
echo 'many ', bodies($many), "\n";
echo 'recent ', bodies($recent), "\n";
echo 'ids ', implode(',', $ids), "\n";

try {
    $connection->lastInsertId();
    exit("lastInsertId() returns a value\n");
} catch (PDOException $error) {
    echo "ok lastInsertId() raises an error\n";
}
