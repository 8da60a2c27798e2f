<?php // requires: php-cli php-pgsql php-doctrine-dbal php-doctrine-orm php-doctrine-data-fixtures
error_reporting(E_ALL & ~E_DEPRECATED);
require 'Doctrine/DBAL/autoload.php';
require 'Doctrine/ORM/autoload.php';
require 'Doctrine/Common/DataFixtures/autoload.php';

use Doctrine\Common\DataFixtures\Executor\ORMExecutor;
use Doctrine\Common\DataFixtures\FixtureInterface;
use Doctrine\DBAL\Exception\DriverException;
use Doctrine\ORM\Configuration;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Tools\SchemaTool;
use Doctrine\Persistence\ObjectManager;

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
function ok($passed, $name) {
    if (!$passed) throw new Exception($name);
    echo "ok $name\n";
}
function raised($function) {
    try {
        $function();
    } catch (Exception $error) {
        return $error;
    }
}
ok($column->getType() instanceof UlidType, 'introspection knows the type');

// docs/clients.md: Doctrine DBAL
// docs/clients.md: Doctrine DBAL
function manager($connection): EntityManager {
    $configuration = new Configuration;
    $configuration->setMetadataDriverImpl(new AttributeDriver([]));
    $configuration->setProxyDir('.');
    $configuration->setProxyNamespace('Proxies');
    $configuration->setAutoGenerateProxyClasses(true);
    return new EntityManager($connection, $configuration);
}
ok(preg_match('/^2\.14\./', shell_exec("dpkg-query -Wf '\${Version}' php-doctrine-orm")), 'version 2.14 of the ORM');
$connection->executeStatement('ALTER TABLE orders ADD replaces_id ulid');
$manager = manager($connection);
$new = replace($manager, $manager->find(Order::class, $id), 'new');
$manager->clear();
$found = $manager->getRepository(Order::class)->findOneBy(['replaces' => $id]);
ok($found->id === $new->id && $found->replaces->body === 'hello', 'the ORM inserts a row and finds it by a relation');
ok(raised(fn () => $manager->persist(new Order)) instanceof LogicException, 'persist() without a transaction raises an error');
$manager->clear();

class Orders implements FixtureInterface {
    public function load(ObjectManager $manager) {
        foreach (['fixture', 'fixture'] as $body) {
            $order = new Order;
            $order->body = $body;
            $manager->persist($order);
        }
        $manager->flush();
    }
}
(new ORMExecutor($manager))->execute([new Orders], append: true);
ok(count($manager->getRepository(Order::class)->findBy(['body' => 'fixture'])) == 2, 'fixtures are loaded');

foreach (['garbage', "$id\n", 'Z' . substr($id, 1)] as $value) {
    if (!raised(fn () => $manager->find(Order::class, $value)) instanceof ConversionException) throw new Exception($value);
}
$connection->executeStatement('CREATE TABLE own (id uuid, related ulid[])');
foreach (['orders', 'own'] as $table) {
    $error = raised(fn () => $connection->fetchOne("SELECT FROM $table WHERE id = ?", ['garbage'], [$table == 'own' ? 'guid' : 'string']));
    if (!$error instanceof DriverException || $error->getSQLState() != '22P02') throw new Exception($table);
}
echo "ok a malformed ID raises a ConversionException, or 22P02 without the type, as for a guid\n";
$connection->insert('own', ['related' => "{{$id}}"]);
ok($connection->fetchOne('SELECT related FROM own') === "{{$id}}", 'an array is written and read as text');

$connection->executeStatement("DELETE FROM orders WHERE body NOT IN ('old', 'hello')");

$new_connection = DriverManager::getConnection(['dbname' => getenv('NEW_DATABASE')] + $parameters);
$new_connection->executeStatement('CREATE EXTENSION snowdrift');
$manager = manager($new_connection);
(new SchemaTool($manager))->createSchema([$manager->getClassMetadata(Order::class)]);
ok(replace($manager, replace($manager, null, 'old'), 'new')->replaces->body === 'old', 'SchemaTool creates a new database');

// docs/clients.md: Doctrine DBAL
$connection->executeQuery('SELECT seed_invoices()');

// docs/clients.md: Doctrine DBAL
echo "invoice $id\n";
echo "one invoice $invoice[body]\n";
echo 'many invoices ', bodies($many), "\n";
echo 'recent invoices ', bodies($recent), "\n";
if (!is_string(json_decode($json)->id)) throw new Exception($json);
echo 'json ', json_decode($json)->id, "\n";
