<?php // requires: php-cli php-pgsql php-doctrine-dbal
require 'Doctrine/DBAL/autoload.php';

$parameters = ['driver' => 'pdo_pgsql', 'user' => getenv('PGUSER'), 'dbname' => getenv('PGDATABASE')];

// docs/clients.md: Doctrine DBAL
$connection->executeQuery('SELECT seed()');

// docs/clients.md: Doctrine DBAL
function bodies(array $rows): string {
    return implode(',', array_column($rows, 'body'));
}
echo 'version ', shell_exec('dpkg-query -Wf \'${Version}\' php-doctrine-dbal'), "\n";
echo "id $id\n";
echo "one $order[body]\n";
echo 'many ', bodies($many), "\n";
echo 'recent ', bodies($recent), "\n";
echo 'ids ', implode(',', $ids), "\n";

$column = $connection->createSchemaManager()->listTableColumns('orders')['id'];
if (!$column->getType() instanceof UlidType) throw new Exception('introspection');
echo "ok introspection knows the type\n";

// docs/clients.md: Doctrine DBAL
$connection->executeQuery('SELECT seed_invoices()');

// docs/clients.md: Doctrine DBAL
echo "invoice $id\n";
echo "one invoice $invoice[body]\n";
echo 'many invoices ', bodies($many), "\n";
echo 'recent invoices ', bodies($recent), "\n";
if (!is_string(json_decode($json)->id)) throw new Exception($json);
echo 'json ', json_decode($json)->id, "\n";
