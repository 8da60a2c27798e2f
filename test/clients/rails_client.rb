# requires: ruby-activerecord ruby-pg
require "active_record"

ActiveRecord::Base.establish_connection(adapter: "postgresql")
ActiveRecord::Migration.verbose = false

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

dump = StringIO.new
ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection, dump)
raise dump.string unless dump.string.include?('create_table "orders", id: :ulid, default: -> { "next_ulid()" }')
raise dump.string unless dump.string.include?('t.ulid "replaces"')
puts "ok schema.rb contains the table"

ActiveRecord::Base.transaction do
  CreateOrders.migrate(:down)
  eval(dump.string)
  Order.reset_column_information
  raise "default" unless Order.columns_hash["id"].default_function == "next_ulid()"
  puts "ok schema.rb creates the table"
  raise ActiveRecord::Rollback
end
