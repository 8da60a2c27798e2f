'use strict';
// The page: the prompt with its steps, and the inspector.
const byId = id => document.getElementById(id);

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

const button = (text, onclick, className = '') => make('button', { type: 'button', onclick, className }, text);

const utc = ms => new Date(ms).toISOString().replace('T', ' ').replace(/^\+0?/, '').replace('Z', ' UTC');

// "3 months ago"
function distance(ms) {
  const units = [[31556952e3, 'year'], [2629746e3, 'month'], [864e5, 'day'], [36e5, 'hour'], [6e4, 'minute'], [1e3, 'second']];
  const difference = ms - Date.now();
  const [size, unit] = units.find(([size]) => Math.abs(difference) >= 2 * size) ?? units.at(-1);
  return new Intl.RelativeTimeFormat('en').format(Math.trunc(difference / size), unit);
}

function table(titles, rows) {
  const cell = (tag, content) => make(tag, { className: content?.className ?? '' }, content?.node ?? content);
  return make('div', { className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: 'Table' }, make('table', {},
    make('thead', {}, make('tr', {}, ...titles.map(title => cell('th', title)))),
    make('tbody', {}, ...rows.map(row => make('tr', {}, ...row.map(value => cell('td', value)))))));
}

// ---- SQL ---------------------------------------------------------------------------------------

const day = ms => new Date(ms).toISOString().slice(0, 10);

// Steps after the second one need the table and its rows.
const steps = [
  ['A table', 'Its default draws the ID', () => `DROP TABLE IF EXISTS posts, consumer;
CREATE TABLE posts (
  id bigint PRIMARY KEY DEFAULT next_snowflake(),
  body text
);`],
  ['Rows', 'New ones, and 5000 of the last days', () => `INSERT INTO posts (body) VALUES ('hello'), ('snow'), ('drift') RETURNING *;
INSERT INTO posts
SELECT make_snowflake(now() - n * interval '1 min', 0, 31, 0), 'post ' || n
FROM generate_series(1, 5000) AS n;`],
  ['Their times', 'No column for the time', () => `SELECT id, snowflake_timestamp(id), body
FROM posts ORDER BY id DESC LIMIT 5;`],
  ['An index condition', 'A range of time is a range of keys', () => `EXPLAIN (COSTS OFF) SELECT * FROM posts
WHERE snowflake_within(id, '[${day(Date.now() - 864e5)}, ${day(Date.now())})');`],
  ['A feed', 'New rows, page by page, and none is missed', () => `SELECT snowdrift.watch('posts');
CREATE TABLE IF NOT EXISTS consumer AS
  SELECT max(id) AS position FROM posts;
BEGIN;
INSERT INTO posts (body) VALUES ('new 1'), ('new 2'), ('new 3');
COMMIT;
SELECT page.* FROM consumer,
  snowdrift.read_new(NULL::posts, position, max => 2) AS page;`],
  ['A sealed ID', 'Public, and tells nothing', () => `SELECT snowdrift.create_seal('posts')
WHERE NOT EXISTS (SELECT FROM snowdrift.seal_keys('posts'));
SELECT snowflake_seal(id, 'posts') AS sealed, body
FROM posts ORDER BY id DESC LIMIT 3;
SELECT body FROM posts WHERE id =
  snowflake_unseal(snowflake_seal((SELECT max(id) FROM posts), 'posts'), 'posts');`],
];

let worker;
let started;
let statements = 0;
const waiting = new Map();
let done = new Set();

function onMessage({ data }, started) {
  if (data.progress !== undefined) {
    byId('progress').value = data.progress;
    if (data.progress >= 1) byId('status').textContent = 'Creating a database…';
  } else if (data.failed !== undefined) {
    started.reject({ message: data.failed });
  } else if (data.ready !== undefined) {
    byId('progress').hidden = true;
    byId('status').textContent = `PostgreSQL ${data.ready}, with Snowdrift. The database is in this tab.`;
    started.resolve();
  } else {
    const { resolve } = waiting.get(data.id);
    waiting.delete(data.id);
    resolve(data);
  }
}

function start() {
  started ??= new Promise((resolve, reject) => {
    byId('progress').hidden = false;
    byId('status').textContent = 'Downloading PostgreSQL…';
    worker = new Worker('db.js', { type: 'module' });
    worker.onmessage = event => onMessage(event, { resolve, reject });
    worker.onerror = event => reject({ message: event.message ?? 'its worker cannot be loaded' });
  }).catch(({ message }) => {
    stop();
    byId('status').textContent = location.protocol === 'file:'
      ? 'Browsers do not start PostgreSQL from a file. Serve this folder, for example with python3 -m http.server.'
      : `PostgreSQL did not start: ${message}`;
    throw new Error(message);
  });
  return started;
}

function stop() {
  worker?.terminate();
  worker = started = undefined;
  for (const { resolve } of waiting.values()) resolve({ error: { message: 'the database was stopped' }, notices: [] });
  waiting.clear();
  done = new Set();
  markSteps();
  byId('progress').hidden = true;
}

async function query(sql) {
  await start();
  return new Promise(resolve => {
    waiting.set(++statements, { resolve });
    worker.postMessage({ id: statements, sql });
  });
}

const numbers = new Set([20, 21, 23, 26, 700, 701, 1700]);

function valueOf(value, type) {
  if (value === null) return { node: make('span', { className: 'null' }, 'null') };
  const isId = type === 20 && value.length > 14 || type === 2950;
  return { node: isId ? button(value, () => showIds(value, true), 'id') : value, className: numbers.has(type) ? 'number' : '' };
}

function resultOf({ fields, rows, count, command, rowCount }) {
  if (fields.length === 0) return make('p', {}, `${command}${rowCount === undefined ? '' : ` ${rowCount}`}`);
  if (fields[0].name === 'QUERY PLAN') return make('pre', { className: 'plan' }, rows.map(row => row[0]).join('\n'));
  const result = table(fields.map(({ name, dataTypeID }) => ({ node: name, className: numbers.has(dataTypeID) ? 'number' : '' })),
    rows.map(row => row.map((value, i) => valueOf(value, fields[i].dataTypeID))));
  if (count > rows.length) result.append(make('p', {}, `The first ${rows.length} of ${count} rows`));
  return result;
}

// Runs statements one after another, and shows their results above the earlier ones. Returns whether they succeeded.
let last = Promise.resolve(true);
function run(sql) {
  last = last.then(async () => {
    const article = make('article', {}, make('pre', {}, sql.trim()));
    let error;
    try {
      const answer = await query(sql);
      error = answer.error;
      article.append(...answer.notices.map(notice => make('p', {}, notice)), ...(answer.results ?? []).map(resultOf));
    } catch ({ message }) {
      error = { message };
    }
    if (error !== undefined) {
      const lines = [['ERROR', error.message], ['DETAIL', error.detail], ['HINT', error.hint]].filter(([, text]) => text);
      article.append(...lines.map(([name, text]) => make('p', { className: 'error' }, `${name}: ${text}`)));
    }
    byId('results').prepend(article);
    return error === undefined;
  });
  return last;
}

async function runStep(i) {
  if (await run(steps[i][2]())) done.add(i);
  markSteps();
}

// The first step drops the table, so that each step can be repeated.
async function step(i) {
  byId('prompt').value = steps[i][2]();
  if (i <= 1 && done.has(i)) done = new Set();
  for (let before = 0; before < Math.min(i, 2); ++before) if (!done.has(before)) await runStep(before);
  await runStep(i);
}

function markSteps() {
  for (const [i, element] of [...byId('steps').querySelectorAll('button')].entries()) element.toggleAttribute('data-done', done.has(i));
}

const runPrompt = () => byId('prompt').value.trim() && run(byId('prompt').value);
byId('steps').append(...steps.map(([title, text], i) => make('li', {}, button(make('span', {}, make('strong', {}, title), ' ', make('small', {}, text)), () => step(i)))));
byId('prompt').value = steps[0][2]();
byId('prompt').onkeydown = event => {
  if (event.key !== 'Enter' || !event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  runPrompt();
};
byId('run').onclick = runPrompt;
byId('afresh').onclick = () => {
  stop();
  last = Promise.resolve(true);
  byId('results').replaceChildren();
  byId('status').textContent = 'The database is gone. The next statement creates a new one.';
};

// ---- the recorded race --------------------------------------------------------------------------

byId('race-content').append(
  make('p', {}, RACE.text),
  table(['seconds', 'rows committed', 'read by id > $1', 'missed', 'read by read_new'].map(node => ({ node, className: 'number' })),
    RACE.rows.map(row => row.map(value => ({ node: String(value), className: 'number' })))),
  make('p', {}, RACE.source));

// ---- the inspector ------------------------------------------------------------------------------

const services = {
  own: 'Your layout', snowflake: 'Snowdrift', twitter: 'X (Twitter)', discord: 'Discord', mastodon: 'Mastodon', instagram: 'Instagram', pgedge: 'pgEdge',
  mastic: 'Mastic', si: 'Snowflake-SI', sonyflake: 'Sonyflake 1', sonyflake_v2: 'Sonyflake 2', hazelcast: 'Hazelcast', tsid: 'TSID', clickhouse: 'ClickHouse',
  baidu: 'Baidu UidGenerator', leaf: 'Leaf, bwmarrin/snowflake', cosid: 'CosId', ulid: 'ULID', uuidv7: 'UUID, version 7', sno: 'sno',
};

const kindOfField = { timestamp: 'time', datacenter: 'node', worker: 'node', partition: 'node', unused: 'fixed', version: 'fixed', variant: 'fixed', tick: 'fixed' };

function drawing({ fields, bits }) {
  const cells = [];
  let at = 0;
  for (const [name, width] of fields)
    for (let i = 0; i < width; ++i, ++at)
      cells.push(make('i', { className: `${kindOfField[name] ?? 'rest'}${i === 0 && at % 32 !== 0 ? ' first' : ''}` }, bits[at]));
  return make('div', { className: 'bits', role: 'img', ariaLabel: fields.map(([name, width]) => `${name}: ${width} bits`).join(', ') }, ...cells);
}

function sqlOf(candidate, text) {
  if (candidate.layout === 'own') return `SELECT * FROM snowflake_parts(${candidate.number}, '${byId('layout').value.trim().replaceAll("'", "''")}');`;
  if (candidate.layout) return `SELECT * FROM snowflake_parts(${candidate.number}, '${candidate.layout}');`;
  if (candidate.kind === 'uuidv7') return `SELECT uuidv7_timestamp('${candidate.uuid}');`;
  return text.includes('_') ? `SELECT typeid_to_uuid('${text}');` : '';
}

function cardOf(candidate, text) {
  const name = candidate.layout ?? candidate.kind;
  const sql = sqlOf(candidate, text);
  const other = [candidate.number, candidate.text, candidate.uuid].filter(form => form !== undefined && form !== text);
  return make('article', { className: 'card' },
    make('h3', {}, services[name], ' ', candidate.layout && name !== 'own' ? make('code', {}, name) : ''),
    make('p', {}, make('strong', {}, utc(candidate.ms)), ` ${distance(candidate.ms)}`),
    drawing(candidate),
    make('p', { className: 'fields' }, ...candidate.fields.filter(([field]) => field !== 'unused')
      .map(([field, , value]) => make('span', { className: kindOfField[field] ?? 'rest' }, `${field} `, make('code', {}, value)))),
    ...other.length ? [make('p', {}, 'Also written ', ...other.flatMap((form, i) => [i ? ' and ' : '', make('code', {}, form)]))] : [],
    ...sql ? [make('p', {}, button(sql, () => { byId('prompt').value = sql; byId('try').scrollIntoView(); run(sql); }, 'id'))] : []);
}

function showOne({ text, candidates, serial, problem }) {
  if (problem) return [make('p', {}, problem)];
  const likely = candidates.filter(candidate => candidate.plausible);
  const others = candidates.filter(candidate => !candidate.plausible);
  const cards = list => list.map(candidate => cardOf(candidate, text));
  const isSnowflake = candidates.some(candidate => candidate.layout);
  const parts = [];
  if (serial) parts.push(make('p', {}, make('strong', {}, 'This is rather a serial key: '), 'as a Snowflake, it would be of the first second of a layout.'));
  if (isSnowflake && likely.length > 1) parts.push(make('p', {}, `It has a plausible time in ${likely.length} formats. An ID does not tell its layout: enter several IDs of the same column to exclude some.`));
  if (likely.length === 0) parts.push(make('p', {}, 'The form is valid, but its time is not plausible.'));
  const shown = serial ? 0 : Math.min(likely.length, 3);
  parts.push(...cards(likely.slice(0, shown)));
  for (const [list, title] of [[likely.slice(shown), 'more with a plausible time'], [others, 'with a time before 2006 or in the future']]) {
    if (list.length === 0) continue;
    if (likely.length === 0 && !isSnowflake) parts.push(...cards(list));
    else parts.push(make('details', {}, make('summary', {}, `${list.length} ${title}`), ...cards(list)));
  }
  return parts;
}

function showSeveral(answers) {
  const bad = answers.find(answer => answer.problem);
  if (bad) return [make('p', {}, make('code', {}, bad.text), ': ', bad.problem)];
  const formats = Inspector.common(answers);
  if (formats.length === 0) return [make('p', {}, 'In no format have all of these IDs a plausible time.')];
  const shown = formats.slice(0, 4);
  const text = formats.length === 1 ? `All have a plausible time in one format: ${services[formats[0].format]}.`
    : `All have a plausible time in ${formats.length} formats: ${formats.map(({ format }) => services[format]).join(', ')}.`;
  return [make('p', {}, text), table(['ID', ...shown.map(({ format }) => services[format])],
    answers.map((answer, i) => [{ node: button(answer.text, () => showIds(answer.text, true), 'id') }, ...shown.map(({ times }) => utc(times[i]))]))];
}

function showTime(ms) {
  const rows = Inspector.boundaries(ms).map(({ kind, layout, id }) => [services[layout ?? kind], id === null ? 'out of range' : { node: button(id, () => showIds(id, true), 'id') }]);
  return [make('p', {}, `The first ID at or after ${utc(ms)}:`), table(['format', 'ID'], rows)];
}

function update() {
  const text = byId('ids').value.trim();
  const ms = Inspector.parseTime(text);
  const words = text.split(/[\s,;]+/).filter(word => word !== '').slice(0, 100);
  byId('answer').replaceChildren(...ms !== undefined ? showTime(ms) : words.length === 0 ? [] : words.length === 1 ? showOne(Inspector.inspect(words[0])) : showSeveral(words.map(word => Inspector.inspect(word))));
}

function showIds(text, focus) {
  byId('ids').value = text;
  history.replaceState(null, '', `#${encodeURIComponent(text)}`);
  update();
  if (!focus) return;
  byId('ids').focus();
  byId('inspect').scrollIntoView();
}

const examples = [
  ['a post on X', '1888944671579078978'], ['three of one column', '175928847299117063 1319876543210123456 1444444444444444444'], ['a ULID', '01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ['a UUID', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'], ['a TypeID', 'user_01h455vb4pex5vsknk084sn02q'], ['a sno', '9k6lig2agbmik222'], ['a serial key', '4711'],
];
byId('examples').append(...examples.flatMap(([name, text]) => [button(name, () => showIds(text), 'example'), ' ']),
  button('now', () => showIds(new Date().toISOString()), 'example'));
byId('ids').oninput = update;
byId('layout').oninput = () => {
  const text = byId('layout').value.trim();
  byId('layout-problem').textContent = Inspector.setLayout(text) || text === '' ? '' : 'This is not a layout yet.';
  update();
};

// A link to an ID: page.html#ID. The fragment is not sent to the server.
function showFragment() {
  let text = '';
  try { text = decodeURIComponent(location.hash.slice(1)); } catch { /* no text */ }
  if (text && text !== 'try' && text !== 'inspect' && text !== byId('ids').value) showIds(text, true);
}
onhashchange = showFragment;
Inspector.ready.then(() => {
  byId('ids').value = examples[0][1];
  update();
  showFragment();
  document.documentElement.dataset.ready = 'true';
});
