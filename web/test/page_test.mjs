// The page in a real browser: node --test-reporter=tap web/test/page_test.mjs BUILD VECTORS. BUILD is build/web.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { serve } from './serve.mjs';

const [build, vectors] = process.argv.slice(2).map(name => path.resolve(name));
const puppeteer = createRequire(path.join(build, 'node_modules/x.js'))('puppeteer-core');
const rowsOf = name => fs.readFileSync(path.join(vectors, name), 'utf8').split('\n').filter(line => line && !line.startsWith('#')).map(line => line.split('\t'));
const timeout = 300_000;    // only ends a test that hangs

let server;
let browser;
let page;
const messages = [];
const requests = [];

async function open(url) {
  const opened = await browser.newPage();
  opened.setDefaultTimeout(timeout);
  opened.on('console', message => messages.push(message.text()));
  opened.on('pageerror', error => messages.push(String(error)));
  opened.on('request', request => requests.push(request.url()));
  await opened.goto(url);
  await opened.waitForFunction(() => document.documentElement.dataset.ready);
  return opened;
}

before(async () => {
  server = await serve(path.join(build, 'site'));
  // No name is resolved, so that requests of the worker to other servers fail, too.
  browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, protocolTimeout: timeout,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'] });
  page = await open(server.url);
});
after(async () => {
  await browser?.close();
  server?.close();
});

// ---- the inspector -----------------------------------------------------------------------------

const inspect = texts => page.evaluate(texts => texts.map(text => Inspector.inspect(text)), texts);
const fieldsOf = candidate => Object.fromEntries(candidate.fields.map(([name, , value]) => [name, value]));
const width = candidate => candidate.fields.reduce((sum, [, bits]) => sum + bits, 0);

async function compare(file, column, check) {
  const rows = rowsOf(file);
  const answers = await inspect(rows.map(row => row[column]));
  assert.ok(rows.length > 0);
  rows.forEach((row, i) => check(row, answers[i].candidates, row.join(' ')));
}

test('Snowflakes of all layouts are read as the golden vectors', () => compare('snowflake_ids.tsv', 1, ([layout, id, ms, datacenter, worker, sequence], candidates, row) => {
  const found = candidates.find(candidate => candidate.layout === layout);
  const fields = { datacenter: '0', worker: '0', sequence: '0', ...fieldsOf(found) };
  assert.deepEqual([found.ms, fields.datacenter, fields.worker, fields.sequence], [Number(ms), datacenter, worker, sequence], row);
  assert.equal(BigInt(`0b${found.bits}`), BigInt(id), row);
  assert.equal(width(found), 64, row);
}));

test('sno values are read as the golden vectors', () => compare('sno_ids.tsv', 1, ([hex, , ms, tick, metabyte, partition, sequence], candidates, row) => {
  const found = candidates.find(({ kind }) => kind === 'sno');
  const fields = fieldsOf(found);
  assert.deepEqual([found.hex, found.ms, fields.tick, fields.metabyte, fields.partition, fields.sequence], [hex, Number(ms), tick, metabyte, partition, sequence], row);
  assert.equal(width(found), 80, row);
}));

test('ULIDs are read as the golden vectors', () => compare('ulid_ids.tsv', 1, ([hex, , ms], candidates, row) => {
  const found = candidates.find(({ kind }) => kind === 'ulid');
  assert.deepEqual([found.hex, found.ms, width(found)], [hex, Number(ms), 128], row);
}));

test('UUIDs of version 7 are read as the golden vectors', () => compare('uuidv7_ids.tsv', 0, ([, ms], candidates, row) => {
  assert.deepEqual([candidates[0].kind, candidates[0].ms, width(candidates[0])], ['uuidv7', Number(ms), 128], row);
}));

test('TypeIDs are read as the golden vectors', () => compare('typeid_valid.tsv', 1, ([, , , uuid], candidates, row) => {
  assert.equal(candidates.find(({ hex }) => hex)?.hex, uuid.replaceAll('-', ''), row);
}));

test('invalid TypeIDs are not read', () => compare('typeid_invalid.tsv', 1, ([, text], candidates, row) => {
  // Spaces around an ID are ignored.
  if (text === text.trim()) assert.deepEqual(candidates.filter(({ hex }) => hex), [], row);
}));

const at = (text, time) => page.evaluate((text, time) => Inspector.inspect(text, time), text, Date.parse(time));
const formats = answer => answer.candidates.filter(({ plausible }) => plausible).map(({ layout, kind }) => layout ?? kind);

test('the likely formats come first', async () => {
  assert.equal(formats(await at('782072004378361856', '2026-12-01'))[0], 'snowflake');    // of the default generator, of November 2026
  assert.deepEqual(formats(await at('1888944671579078978', '2026-12-01')).slice(0, 2), ['twitter', 'leaf']);
  assert.equal((await at('42', '2026-12-01')).serial, true);
  assert.equal((await at('782072004378361856', '2026-12-01')).serial, false);
  assert.match((await at('nothing', '2026-12-01')).problem, /neither an ID/);
  assert.match((await at('9caa23d6-b371-80af-97b6-677151629da7', '2026-12-01')).problem, /version 8.*sealed ID/);
  assert.deepEqual(formats(await at('0198f3b2-3c4d-4e5f-8a9b-c0d1e2f3a4b5', '2026-12-01')), ['ulid']);
});

test('several IDs exclude formats', async () => {
  const common = await page.evaluate(() => Inspector.common(['175928847299117063', '1319876543210123456', '1444444444444444444'].map(text => Inspector.inspect(text, Date.UTC(2026, 11)))));
  assert.ok(common.length > 0 && common.length < formats(await at('175928847299117063', '2026-12-01')).length);
  assert.ok(common.some(({ format }) => format === 'discord'));
});

test('a layout of your own is used first', async () => {
  await page.$eval('details:has(#layout)', details => { details.open = true; });
  await page.type('#layout', 'epoch=2024-01-01T00:00:00Z timestamp=41 worker=10 sequence=12');
  const [first] = (await at('264905529753628672', '2026-12-01')).candidates;
  assert.deepEqual([first.layout, first.ms, fieldsOf(first).worker], ['own', Date.UTC(2026, 0), '7']);
  await page.$eval('#layout', input => { input.value = 'nonsense'; input.dispatchEvent(new Event('input')); });
  assert.match(await page.$eval('#layout-problem', element => element.textContent), /not a layout/);
  await page.$eval('#layout', input => { input.value = ''; input.dispatchEvent(new Event('input')); });
});

test('times are those of UTC, or of their zone', async () => {
  const times = { '2026-11-21': '2026-11-21T00:00:00Z', '2026-11-21 12:00': '2026-11-21T12:00:00Z', '2026-11-21 12:00:01.5+02': '2026-11-21T10:00:01.5Z', '2026-11-21T12:00:00-0530': '2026-11-21T17:30:00Z' };
  for (const [text, time] of Object.entries(times)) assert.equal(await page.evaluate(text => Inspector.parseTime(text), text), Date.parse(time), text);
  assert.equal(await page.evaluate(() => Inspector.parseTime('2026-13-01')), undefined);
});

test('a link to an ID shows it', async () => {
  await page.evaluate(() => { location.hash = '#9k6lig2agbmik222'; });
  await page.waitForFunction(() => document.querySelector('#answer h3')?.textContent.trim() === 'sno');
});

// ---- SQL ---------------------------------------------------------------------------------------

const results = () => page.$$eval('#results > article', articles => articles.map(article => article.innerText));
const awaitResults = n => page.waitForFunction(n => document.querySelectorAll('#results > article').length >= n, {}, n);

async function sql(text) {
  const n = (await results()).length;
  await page.$eval('#prompt', (prompt, text) => { prompt.value = text; }, text);
  await page.focus('#prompt');
  await page.keyboard.down('Control');
  await page.keyboard.press('Enter');
  await page.keyboard.up('Control');
  await awaitResults(n + 1);
  return (await results())[0];
}

const expected = [
  /CREATE/, /\d{18}\thello\n[^]*INSERT 5000/, /\d{18}\t\d{4}-\d\d-\d\d [\d:.]+\+00\tdrift\n/, /Index Cond: \(\(id >= '\d{18}'::bigint\) AND \(id </,
  /id\s+body\s+\d{18}\tnew 1\n\d{18}\tnew 2$/, /[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[^]*body\s+new 3$/,
];
for (const [i, pattern] of expected.entries()) {
  test(`step ${i + 1} answers`, async () => {
    const n = (await results()).length;
    await page.click(`#steps li:nth-child(${i + 1}) button`);
    await awaitResults(n + 1);
    assert.match((await results())[0], pattern);
    assert.doesNotMatch((await results())[0], /ERROR/);
  });
}

test('the last step can be the first one, and steps can be repeated', async () => {
  await page.click('#afresh');
  for (const [i, n] of [[6, 3], [2, 5], [5, 6], [5, 7]]) {
    await page.click(`#steps li:nth-child(${i}) button`);
    await awaitResults(n);
  }
  assert.deepEqual((await results()).filter(text => /ERROR/.test(text)), []);
});

test('errors and notices are shown, and HTML in data is text', async () => {
  assert.match(await sql('SELECT 1/0'), /ERROR: division by zero/);
  assert.match(await sql("SELECT snowdrift.create_generator('web', 'snowflake')"), /NOTICE: ID generator "web" can issue the same IDs/);
  assert.match(await sql("SELECT '<b>x</b>' AS html"), /<b>x<\/b>/);
});

test('the vectors of Snowflakes in SQL', async () => {
  const values = rowsOf('snowflake_ids.tsv').map(([layout, ...numbers]) => `('${layout}', ${numbers.join(', ')})`).join();
  assert.match(await sql(`SELECT count(*) AS n, count(*) FILTER (WHERE (extract(epoch FROM timestamp) * 1000, p.datacenter, p.worker, p.sequence) = (ms, v.datacenter, v.worker, v.sequence)) AS good
    FROM (VALUES ${values}) AS v(layout, id, ms, datacenter, worker, sequence), snowflake_parts(id, layout) AS p`), /n\s+good\s+(\d+)\s+\1$/);
});

test('C++ and SQL agree on the first ID of a time in each format', async () => {
  for (const time of ['2025-06-01 00:00:00', '2026-11-21 12:34:56.789', '2026-02-28 23:59:59.999']) {
    const known = await page.evaluate(time => Inspector.boundaries(Inspector.parseTime(time)).filter(({ kind, id }) => id && kind !== 'sno'), time);
    const terms = known.map(({ kind, layout, id }) => layout ? `snowflake_boundary('${time}Z', '${layout}') = ${id}`
      : kind === 'uuidv7' ? `uuidv7_boundary('${time}Z') = '${id}'` : `uuid_to_ulid(uuidv7_boundary('${time}Z')) > '${id}'`);
    assert.ok(known.length > 10);
    assert.match(await sql(`SELECT ${terms.filter(term => !/ulid/.test(term)).join(' AND ')} AS agree`), /agree\s+t$/);
  }
});

// ---- the page ----------------------------------------------------------------------------------

test('narrow screens do not scroll sideways', async () => {
  for (const viewport of [{ width: 360, height: 700 }, { width: 1200, height: 900 }]) {
    await page.setViewport(viewport);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${viewport.width}`);
  }
});

test('the keyboard reaches everything, and shows where it is', async () => {
  await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
  const reached = new Set();
  for (let i = 0; i < 80; ++i) {
    await page.keyboard.press('Tab');
    const { id, outline } = await page.evaluate(() => ({ id: document.activeElement.id || document.activeElement.textContent.slice(0, 20), outline: getComputedStyle(document.activeElement).outlineStyle }));
    if (id === await page.evaluate(() => document.body.textContent.slice(0, 20))) continue;    // after the last element
    assert.notEqual(outline, 'none', id);
    reached.add(id);
  }
  for (const id of ['prompt', 'run', 'afresh', 'ids']) assert.ok(reached.has(id), id);
});

// The contrast of each text with the background behind it, as WCAG 2 defines it
function lowContrasts() {
  const numbers = color => color.match(/[\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const background = element => {
    for (let e = element; e; e = e.parentElement) {
      const color = numbers(getComputedStyle(e).backgroundColor);
      if ((color[3] ?? 1) > 0) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility?.()) continue;
    const [a, b] = [luminance(numbers(getComputedStyle(element).color)), luminance(background(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(`${contrast.toFixed(2)} ${node.textContent.trim().slice(0, 30)}`);
  }
  return found;
}
for (const scheme of ['light', 'dark']) {
  test(`texts have a contrast of 4.5 in the ${scheme} scheme`, async () => {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.$$eval('details', all => all.forEach(details => { details.open = true; }));
    assert.deepEqual(await page.evaluate(lowContrasts), []);
  });
}

test('all is fetched from where the page is, and the console is empty', () => {
  const own = new URL(server.url).origin;
  assert.deepEqual(requests.filter(url => new URL(url).origin !== own && !url.startsWith('data:')), []);
  assert.ok(server.requests.some(({ url }) => url.startsWith('/pglite/pglite.wasm.bin?v=')));
  assert.deepEqual(server.requests.filter(({ status }) => status !== 200), []);
  assert.deepEqual(messages, []);
});

test('the page in one file works from a file', async () => {
  const file = await open(`file://${build}/snowdrift.html`);
  assert.equal(await file.$eval('#answer h3', element => element.textContent.trim()), 'X (Twitter) twitter');
  await file.click('#steps li:nth-child(3) button');
  await file.waitForFunction(() => document.querySelectorAll('#results > article').length >= 3);
  assert.match(await file.$eval('#results > article', article => article.innerText), /drift/);
  assert.deepEqual(messages, []);
  await file.close();
});
