CREATE ROLE shop_owner;
CREATE ROLE shop_client;
CREATE ROLE shop_reader;
SELECT snowdrift.create_generator('orders', 'snowflake', worker => 3);
