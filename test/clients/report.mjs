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
