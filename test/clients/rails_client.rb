# requires: ruby-activerecord ruby-pg
# deb: ruby-activerecord/trixie ruby-activemodel/trixie ruby-activesupport/trixie
require "active_record"
require "tmpdir"

ActiveRecord::Base.establish_connection(adapter: "postgresql", database: ENV["PGDATABASE"],
                                        variables: { statement_timeout: "20s" }) # if the recipe lacks a lock timeout
ActiveRecord::Migration.verbose = false

# docs/clients.md: Rails
# docs/clients.md: Rails
# docs/clients.md: Rails
EnableSnowdrift.migrate(:up)
CreateOrders.migrate(:up)
ActiveRecord::Base.connection.execute("SELECT seed()")

# docs/clients.md: Rails
puts "version #{ActiveRecord.version}"
puts "id #{id}"
puts "one #{order.body}"
puts "many #{many.map(&:body).join(",")}"
puts "recent #{recent.map(&:body).join(",")}"
puts "ids #{ids.join(",")}"

# docs/clients.md: Rails
CreateInvoices.migrate(:up)
ActiveRecord::Base.connection.execute("SELECT seed_invoices()")

# docs/clients.md: Rails
puts "invoice #{id}"
puts "one invoice #{invoice.body}"
puts "many invoices #{many.map(&:body).join(",")}"
puts "recent invoices #{recent.map(&:body).join(",")}"
raise json unless JSON.parse(json)["id"].is_a?(String)
puts "json #{JSON.parse(json)["id"]}"

class CreateItems < ActiveRecord::Migration[6.1]
  def change
    create_table :lists do |t| # has an array of IDs, but no column of the type
      t.ulid :orders, array: true, default: []
    end
    create_table :items, id: :ulid, default: -> { "next_ulid()" } do |t|
      t.references :order, type: :ulid, foreign_key: true
      t.references :invoice, foreign_key: true
    end
    create_join_table :items, :tags, column_options: { type: :ulid }
    create_table :tags, id: :ulid, default: -> { "next_ulid()" }
  end
end

class List < ActiveRecord::Base; end

class Tag < ActiveRecord::Base; end

class Item < ActiveRecord::Base
  belongs_to :order
  belongs_to :invoice, optional: true
  has_and_belongs_to_many :tags
end

class Order
  has_many :items
end

ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

def same(found, expected, name)
  raise "#{name}: #{found.inspect} instead of #{expected.inspect}" unless found == expected
end

def not_found(name)
  raise "#{name}: #{yield.inspect}"
rescue ActiveRecord::RecordNotFound
end

CreateItems.migrate(:up)
ActiveRecord::Base.transaction do
  ["", "garbage", ULID.chop, "#{ULID}\n", "8" + ULID[1..], "01ARZ3NDEKTſV4RRFFQ69G5FAV", 5].each do |malformed|
    not_found("find") { Order.find(malformed) }
    not_found("find of several") { Order.find([ULID, malformed]) }
    same(Order.find_by(id: malformed), nil, "find_by")
    same(Order.where(id: [ULID, malformed]).count, 1, "where of several")
    same(Order.where.not(id: ULID).exists?(id: malformed), false, "exists?")
    same(Item.where(order: malformed).or(Item.where(tags: malformed)).joins(:tags).count, 0, "where of relations")
    same(List.where(orders: [malformed]).count, 0, "where of an array")
    same(Item.new(order_id: malformed).order, nil, "a relation")
    same(Order.new(replaces: malformed).replaces, nil, "an attribute")
  end
  puts "ok a malformed ID is not found"

  order = Order.find(ULID.downcase)
  same(order.id, ULID, "the ID")
  order.replaces = ULID
  order.save!
  order.replaces = ULID.downcase
  same(order.changed?, false, "the same ID in lower case")
  puts "ok an ID in lower case is the same ID"

  item = order.items.create!(tags: [Tag.create!])
  same(Item.joins(:order).merge(Order.since(1.hour.ago)).count, 0, "merge")
  same(Item.joins(:order).where(orders: { id: ULID.downcase }).to_a, [item], "where")
  same(Item.where(order: order).or(Item.where(order: ULID)).to_a, [item], "where of a relation")
  same(Order.joins(:items).where(items: { id: item.id }).to_a, [order], "where of the other side")
  same(Item.includes(:order, :tags).find(item.id).tags.ids.map(&:size), [26], "includes")
  item.update!(invoice: Invoice.first)
  same(Item.joins(:invoice).merge(Invoice.since(1.hour.ago)).count, 0, "merge with Snowflakes")
  puts "ok lookups through relations"

  list = List.create!(orders: [ULID.downcase, item.id])
  same(list.reload.orders, [ULID, item.id], "the array")
  same(List.find_by(orders: [ULID, item.id]), list, "a lookup of an array")
  same(List.where("? = ANY (orders)", ULID).to_a, [list], "a lookup in an array")
  puts "ok an array column of the type"
  raise ActiveRecord::Rollback
end

Dir.mktmpdir do |folder|
  File.write("#{folder}/orders.yml", "labeled:\n  body: a label\n  replaces: #{ULID}\nexplicit:\n  id: #{ULID}\n  body: an ID\n")
  File.write("#{folder}/items.yml", "one:\n  order: labeled\n  tags: first, second\ntwo:\n  order_id: #{ULID}\n  invoice: paid\n")
  File.write("#{folder}/tags.yml", "first: {}\nsecond: {}\n")
  File.write("#{folder}/lists.yml", "one:\n  orders: [#{ULID}]\n")
  File.write("#{folder}/invoices.yml", "paid:\n  body: a label\n")
  ActiveRecord::Base.transaction do
    names = %w[orders items tags lists invoices]
    fixtures = ActiveRecord::FixtureSet.create_fixtures(folder, names).to_h { |set| [set.table_name, set] }
    labeled = fixtures["orders"]["labeled"].find
    same([labeled.body, labeled.replaces, labeled.id.size], ["a label", ULID, 26], "a fixture without an ID")
    same(labeled.id, ActiveRecord::FixtureSet.identify(:labeled, :ulid), "the ID of a label")
    same(Order.find(ULID).body, "an ID", "a fixture with an ID")
    same(labeled.items.flat_map(&:tags).size, 2, "labels of relations")
    same(Item.find_by(order_id: ULID).invoice.body, "a label", "a label of a Snowflake")
    same(List.first.orders, [ULID], "an array")
    same(Order.since(Time.utc(1971)).pluck(:id), [ULID], "the time of a label")
    puts "ok fixtures with and without IDs are loaded"
    raise ActiveRecord::Rollback
  end
end

def dump
  newer = ActiveRecord.version >= Gem::Version.new("7.2")
  output = StringIO.new
  ActiveRecord::SchemaDumper.dump(newer ? ActiveRecord::Base.connection_pool : ActiveRecord::Base.connection, output)
  output.string
end

schema = dump
['create_table "orders", id: :ulid, default: -> { "next_ulid()" }', 't.ulid "replaces"', 't.ulid "order_id"',
 't.ulid "orders", default: [], array: true', 'enable_extension "snowdrift"',
 'create_table "invoices", id: :bigint, default: -> { "next_snowflake()" }'].each do |line|
  raise schema unless schema.include?(line)
end
puts "ok schema.rb contains the tables"

connection = ActiveRecord::Base.connection
connection.execute("CREATE TABLE converted (id serial PRIMARY KEY, body text)")
class Converted < ActiveRecord::Base
  self.table_name = "converted"
end
Converted.columns  # the process reads them once
connection.execute("SELECT snowdrift.convert_column('converted', 'id')")
id = connection.select_value("INSERT INTO converted (body) VALUES ('hello') RETURNING id")
raise "found" if Converted.find_by(id: id)
Converted.last.destroy
raise "destroyed" unless connection.select_value("SELECT count(*) FROM converted") == 1
puts "ok a process that has read the old columns does not find new rows"
class Prepared < ActiveRecord::Base
  self.table_name = "converted"
  attribute :id, :big_integer
end
raise "not found" unless Prepared.find_by(id: id)
puts "ok unless its model declares a big_integer"
Converted.reset_column_information
raise "not found" unless Converted.find_by(id: id)
Converted.find(id).destroy
raise "not destroyed" unless connection.select_value("SELECT count(*) FROM converted") == 0
puts "ok a new process finds them"

# docs/clients.md: Rails
class CreateCustomers < ActiveRecord::Migration[6.1]
  def change
    create_table(:customers, id: :serial) { |t| t.text :name }
    create_table(:visits, id: :serial) { |t| t.references :customer, type: :integer, foreign_key: true }
  end
end
class Visit < ActiveRecord::Base; end

# In a transaction, as db:migrate runs it
def convert = ActiveRecord::Base.transaction { ConvertKeys.migrate(:up) }

def type_of_key = ActiveRecord::Base.connection.columns("visits")[0].sql_type

CreateCustomers.migrate(:up)
pool = ActiveRecord::Base.connection_pool
report = pool.checkout
report.begin_transaction(joinable: false)
report.execute("SELECT count(*) FROM visits")
begin
  convert
  raise "no error"
rescue ActiveRecord::LockWaitTimeout
  same(type_of_key, "integer", "the type")
  puts "ok while a report reads a table, the lock timeout ends the conversion, and nothing is changed"
end
report.rollback_transaction
pool.checkin(report)
convert
same(type_of_key, "bigint", "the type")
raise "no Snowflake" unless Visit.create!.id > 2**53
puts "ok after the report, the conversion succeeds"

tasks = ActiveRecord::Tasks::DatabaseTasks
new_database = ->(name, &fill) do
  settings = { adapter: "postgresql", database: "#{ENV["PGDATABASE"]}_#{name}" }
  config = ActiveRecord::DatabaseConfigurations::HashConfig.new("test", "primary", settings)
  tasks.create(config)
  ActiveRecord::Base.establish_connection(config)
  fill.call(config)
  ActiveRecord::Base.descendants.each(&:reset_column_information)
  same(List.create!(orders: [Order.create!.id]).reload.orders, Order.pluck(:id), "an order")
  raise "no Snowflake" unless Invoice.create!.id > 2**53
end
ENV["VERBOSE"] = "false"
tasks.env = "test"
new_database.call("migrated") { [EnableSnowdrift, CreateOrders, CreateInvoices, CreateItems].each { _1.migrate(:up) } }
puts "ok the migrations create a new database"
same(dump, schema, "the schema")
[CreateItems, CreateInvoices, CreateOrders, EnableSnowdrift].each { _1.migrate(:down) }
same(ActiveRecord::Base.connection.select_value("SELECT count(*) FROM pg_extension WHERE extname = 'snowdrift'"), 1, "it")
puts "ok undoing the migrations keeps the extension"
Dir.mktmpdir do |folder|
  File.write("#{folder}/schema.rb", schema)
  new_database.call("loaded") { |config| tasks.load_schema(config, :ruby, "#{folder}/schema.rb") }
end
puts "ok schema.rb creates a new database"
