// Prints what a recipe in JavaScript has read.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';

export function report(name, { id, order, many, recent, ids }) {
  const { version } = JSON.parse(readFileSync(`../../node_modules/${name}/package.json`));
  console.log(`version ${version}`);
  console.log(`id ${id}`);
  console.log(`one ${order.body}`);
  console.log(`many ${many.map((row) => row.body)}`);
  console.log(`recent ${recent.map((row) => row.body)}`);
  assert(Array.isArray(ids));
  console.log(`ids ${ids}`);
}

export function reportSnowflakes({ invoiceId, invoice, manyInvoices, recentInvoices, json }) {
  console.log(`invoice ${invoiceId}`);
  console.log(`one invoice ${invoice.body}`);
  console.log(`many invoices ${manyInvoices.map((row) => row.body)}`);
  console.log(`recent invoices ${recentInvoices.map((row) => row.body)}`);
  console.log(`json ${JSON.parse(json).id}`);
}

// Lets other clients read the arrays of NEW_DATABASE with the parser of docs/clients.md for node-postgres.
export async function parseArrays(pg) {
  const client = new pg.Client({ database: process.env.NEW_DATABASE });
  await client.connect();
  const { rows: [{ oid }] } = await client.query("SELECT 'ulid[]'::regtype::oid AS oid");
  pg.types.setTypeParser(oid, pg.types.getTypeParser(1009));
  await client.end();
}
