<?php // requires: php-cli php-pgsql php-illuminate-database php-illuminate-events php-illuminate-filesystem
error_reporting(E_ALL & ~E_DEPRECATED);
require 'Illuminate/Database/autoload.php';
require 'Illuminate/Events/autoload.php';
require 'Illuminate/Filesystem/autoload.php';

use Illuminate\Database\Eloquent\Factories\Factory;
use Illuminate\Database\Migrations\DatabaseMigrationRepository;
use Illuminate\Database\Migrations\Migrator;
use Illuminate\Database\QueryException;

// docs/clients.md: Eloquent
$manager = new DB;
$address = ['driver' => 'pgsql', 'username' => getenv('PGUSER')];
$manager->addConnection($address + ['database' => getenv('PGDATABASE')]);
$manager->addConnection($address + ['database' => getenv('NEW_DATABASE')], 'new');
$manager->setAsGlobal();
$manager->setEventDispatcher(new Illuminate\Events\Dispatcher);
$manager->bootEloquent();

create_orders();
DB::select('SELECT seed()');

// docs/clients.md: Eloquent
echo 'version ', shell_exec('dpkg-query -Wf \'${Version}\' php-illuminate-database'), "\n";
echo "id $id\n";
echo "one $order->body\n";
echo "many {$many->implode('body', ',')}\n";
echo "recent {$recent->implode('body', ',')}\n";
echo 'ids ', implode(',', $ids), "\n";

// docs/clients.md: Eloquent
create_invoices();
DB::statement('SELECT seed_invoices()');

// docs/clients.md: Eloquent
echo "invoice $id\n";
echo "one invoice $invoice->body\n";
echo "many invoices {$many->implode('body', ',')}\n";
echo "recent invoices {$recent->implode('body', ',')}\n";
if (!is_string(json_decode($json)->id)) throw new Exception($json);
echo 'json ', json_decode($json)->id, "\n";

function ok($passed, $name) {
    if (!$passed) throw new Exception($name);
    echo "ok $name\n";
}

function fails_with($sqlstate, $function) {
    try {
        $function();
    } catch (QueryException $error) {
        return $error->getCode() === $sqlstate;
    }
    return false;
}

// A purchase has lines, and an array of the type
class Purchase extends Model {
    use UlidKey;
    public $timestamps = false;
    protected $guarded = [];
    public function lines() { return $this->hasMany(Line::class); }
}
class Line extends Model {
    use UlidKey;
    public $timestamps = false;
    protected $guarded = [];
    public function purchase() { return $this->belongsTo(Purchase::class); }
    public function siblings() {
        return $this->hasManyThrough(Line::class, Purchase::class, 'id', 'purchase_id', 'purchase_id');
    }
}
class PurchaseFactory extends Factory {
    protected $model = Purchase::class;
    public function definition() { return ['body' => 'made']; }
    protected function withFaker() {}  // needs another package
}
class LineFactory extends PurchaseFactory {
    protected $model = Line::class;
}
foreach (['purchases', 'lines'] as $name) {
    DB::schema()->create($name, function (Blueprint $table) use ($name) {
        $table->addColumn('ulid', 'id')->primary()->default(new Expression('next_ulid()'));
        if ($name == 'lines') {
            $table->addColumn('ulid', 'purchase_id');
            $table->foreign('purchase_id')->references('id')->on('purchases');
        }
        $table->text('body')->nullable();
    });
}
DB::statement('ALTER TABLE purchases ADD refs ulid[]');

Factory::guessFactoryNamesUsing(fn ($model) => $model . 'Factory');
Model::withoutEvents(fn () => PurchaseFactory::new()->count(3)->has(LineFactory::new()->count(2))->create());
ok(DB::table('lines')->distinct('purchase_id')->count() == 3, 'factories insert rows and their relations without events');
$given = PurchaseFactory::new()->create(['id' => '00000000000000000000000001'])->id;
ok($given === '00000000000000000000000001' && Purchase::find($given), 'an ID that looks like a number is a string');

$line = Line::with('purchase')->first();
ok($line->purchase->is(Purchase::whereHas('lines', fn ($lines) => $lines->whereKey($line->id))->sole()),
    'relations are looked up by the ID');
ok(Purchase::with('lines')->find($line->purchase_id)->lines->contains($line), 'relations are loaded eagerly');
$new = new Purchase;
$new->save();
ok($new->lines()->create()->purchase_id === $new->id && Purchase::find($new->id), 'a row without values is inserted');
$first = Purchase::firstOrCreate(['body' => 'first']);
ok(Purchase::firstOrCreate(['body' => 'first'])->is($first), 'firstOrCreate() finds the row that it has inserted');
$expression = Purchase::create(['body' => DB::raw("'a' || 'b'")]);
ok($expression->fresh()->body === 'ab', 'values can be expressions');

DB::statement('CREATE TABLE own (id uuid PRIMARY KEY)');
ok(fails_with('22P02', fn () => Purchase::find('garbage')) && fails_with('22P02', fn () => DB::table('own')->find('garbage')),
    'find() raises a QueryException for a malformed ID, as for a uuid');
foreach (['garbage', "$line->id\n", '', 'Z' . substr($line->id, 1)] as $value) {
    foreach ([fn () => $line->resolveRouteBinding($value), fn () => $new->resolveChildRouteBinding('line', $value, null),
              fn () => $line->resolveChildRouteBinding('sibling', $value, null)] as $bind) {
        try {
            $bind();
            throw new Exception("malformed ID: $value");
        } catch (ModelNotFoundException) {}
    }
}
ok($line->resolveRouteBinding(strtolower($line->id))->is($line)
    && $line->purchase->resolveChildRouteBinding('line', $line->id, null)->is($line)
    && $line->resolveChildRouteBinding('sibling', $line->id, null)->is($line)
    && $line->resolveRouteBinding('garbage', 'body') === null, 'a malformed ID in a URL is not found');

$array = '{' . $line->id . ',01ARZ3NDEKTSV4RRFFQ69G5FAV}';
$first->refs = $array;
$first->save();
ok($first->fresh()->refs === $array, 'an array is written and read as text');

// Laravel's migrations create the tables of a new database, which has no extension
is_dir('migrations') || mkdir('migrations');
foreach (['orders', 'invoices'] as $number => $name)
    file_put_contents("migrations/2026_01_0{$number}_create_$name.php",
        "<?php return new class extends Illuminate\Database\Migrations\Migration {
            public function up() { create_$name(); }
        };");
$resolver = $manager->getDatabaseManager();
$repository = new DatabaseMigrationRepository($resolver, 'migrations');
$migrator = new Migrator($repository, $resolver, new Illuminate\Filesystem\Filesystem);
$migrator->usingConnection('new', function () use ($migrator, $repository) {
    $repository->createRepository();
    $migrator->run(['migrations']);
    ok(Order::create(['body' => 'new'])->is(Order::sole()) && Invoice::create(['body' => 'new'])->is(Invoice::sole()),
        'migrations create a new database');
});

// A model without the cast, as it was before the conversion
class Converted extends Model {
    public $timestamps = false;
    protected $table = 'converted';
    protected $fillable = ['body'];
}
DB::schema()->create('converted', function (Blueprint $table) {
    $table->increments('id');
    $table->text('body');
});
DB::select("SELECT snowdrift.convert_column('converted', 'id')");
$row = Converted::create(['body' => 'hello']);
ok($row->id > 2 ** 53 && Converted::find($row->id)->body == 'hello',
    'an unchanged model finds new rows after a conversion');
