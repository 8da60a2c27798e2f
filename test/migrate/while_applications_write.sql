\ir in_one_transaction.sql
-- A trigger of the application that sets references, with a name that is late in the order
ALTER TABLE orders ADD number serial UNIQUE;
ALTER TABLE order_lines ADD order_number integer;
CREATE FUNCTION set_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.order_id := (SELECT id FROM orders WHERE number = NEW.order_number);
    RETURN NEW;
END $$;
CREATE TRIGGER set_order BEFORE INSERT OR UPDATE OF order_number ON order_lines
    FOR EACH ROW WHEN (NEW.order_number IS NOT NULL) EXECUTE FUNCTION set_order();
