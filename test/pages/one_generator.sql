CREATE ROLE shop_owner;
CREATE ROLE shop_client;
SELECT snowdrift.create_generator('orders', 'snowflake', worker => 3);
