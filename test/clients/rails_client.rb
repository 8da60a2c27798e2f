# requires: ruby-activerecord ruby-pg
# deb: ruby-activerecord/trixie ruby-activemodel/trixie ruby-activesupport/trixie
require "active_record"

ActiveRecord::Base.establish_connection(adapter: "postgresql")
ActiveRecord::Migration.verbose = false

# docs/clients.md: Rails
# docs/clients.md: Rails
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

dump = StringIO.new
newer = ActiveRecord.version >= Gem::Version.new("7.2")
ActiveRecord::SchemaDumper.dump(newer ? ActiveRecord::Base.connection_pool : ActiveRecord::Base.connection, dump)
raise dump.string unless dump.string.include?('create_table "orders", id: :ulid, default: -> { "next_ulid()" }')
raise dump.string unless dump.string.include?('t.ulid "replaces"')
raise dump.string unless dump.string.include?('create_table "invoices", id: :bigint, default: -> { "next_snowflake()" }')
raise dump.string unless dump.string.include?('enable_extension "snowdrift"')
puts "ok schema.rb contains the table"

ActiveRecord::Base.transaction do
  ActiveRecord::Base.connection.execute("DROP TABLE orders, invoices; DROP EXTENSION snowdrift")
  eval(dump.string)
  Order.reset_column_information
  raise "default" unless Order.columns_hash["id"].default_function == "next_ulid()"
  raise "default" unless ActiveRecord::Base.connection.columns("invoices")[0].default_function == "next_snowflake()"
  puts "ok schema.rb creates the extension and the tables"
  raise ActiveRecord::Rollback
end

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
