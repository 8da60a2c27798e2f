<?php // requires: php-cli php-pgsql php-illuminate-database php-illuminate-events
error_reporting(E_ALL & ~E_DEPRECATED);
require 'Illuminate/Database/autoload.php';
require 'Illuminate/Events/autoload.php';

// docs/clients.md: Eloquent
$manager = new DB;
$manager->addConnection(['driver' => 'pgsql', 'username' => getenv('PGUSER'), 'database' => getenv('PGDATABASE')]);
$manager->setAsGlobal();
$manager->setEventDispatcher(new Illuminate\Events\Dispatcher);
$manager->bootEloquent();

// docs/clients.md: Eloquent
echo 'version ', shell_exec('dpkg-query -Wf \'${Version}\' php-illuminate-database'), "\n";
echo "id $id\n";
echo "one $order->body\n";
echo "many {$many->implode('body', ',')}\n";
echo "recent {$recent->implode('body', ',')}\n";
echo 'ids ', implode(',', $ids), "\n";

// docs/clients.md: Eloquent
up();
DB::statement('SELECT seed_invoices()');

// docs/clients.md: Eloquent
echo "invoice $id\n";
echo "one invoice $invoice->body\n";
echo "many invoices {$many->implode('body', ',')}\n";
echo "recent invoices {$recent->implode('body', ',')}\n";
if (!is_string(json_decode($json)->id)) throw new Exception($json);
echo 'json ', json_decode($json)->id, "\n";

// A model without the cast, as it was before the conversion
class Converted extends Model {
    public $timestamps = false;
    protected $table = 'converted';
    protected $fillable = ['body'];
}
DB::schema()->create('converted', function (Illuminate\Database\Schema\Blueprint $table) {
    $table->increments('id');
    $table->text('body');
});
DB::select("SELECT snowdrift.convert_column('converted', 'id')");
$row = Converted::create(['body' => 'hello']);
if ($row->id <= 2 ** 53 || Converted::find($row->id)->body != 'hello') throw new Exception('conversion');
echo "ok an unchanged model finds new rows after a conversion\n";
