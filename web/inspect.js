'use strict';
// What a text can be: calls inspect.wasm, and orders its answers. It knows no document, so that Node.js can test it.
const Inspector = (() => {
  let wasm;
  const ready = WebAssembly.instantiate(Uint8Array.from(atob(INSPECT_WASM), c => c.charCodeAt(0)))
    .then(({ instance }) => { wasm = instance.exports; });

  const memory = size => new Uint8Array(wasm.memory.buffer, wasm.buffer(), size);
  const write = text => new TextEncoder().encodeInto(text, memory(256)).written;
  const answer = size => JSON.parse(new TextDecoder().decode(memory(size)));

  const layouts = () => answer(wasm.layouts());
  // Your own layout; an empty text for none. Returns whether it is valid.
  const setLayout = text => text.length <= 256 && wasm.set_layout(write(text)) === 1;

  // ---- one text ------------------------------------------------------------------------------

  const day = 24 * 3600 * 1000;
  // Twitter issued the first Snowflakes in 2010, and MongoDB's ObjectIds are from 2007. IDs are not from the future, but clocks differ.
  const isPlausible = (ms, now) => ms >= Date.UTC(2006, 0) && ms <= now + day;

  // IDs of a plausible time first, your own layout and that of Snowdrift before others, then the latest.
  function rank(candidate, now) {
    if (!isPlausible(candidate.ms, now)) return 3;
    return candidate.layout === 'own' ? 0 : candidate.layout === 'snowflake' || !candidate.layout ? 1 : 2;
  }

  const bitsOf = ({ number, hex }) => number !== undefined ? BigInt(number).toString(2).padStart(64, '0')
    : [...hex].map(digit => parseInt(digit, 16).toString(2).padStart(4, '0')).join('');

  const strip = text => text.trim().replace(/^["'`(]+|["'`),;]+$/g, '');

  // { text, candidates, serial, problem }. `serial`: the number is rather one of a sequence.
  function inspect(input, now = Date.now()) {
    const text = strip(input);
    const digits = /^[+-]?\d[\d_]*$/.test(text) ? text.replace(/[_+]/g, '') : text;
    const found = digits.length > 256 ? [] : answer(wasm.inspect(write(digits)));
    const candidates = found.map(c => ({ ...c, bits: bitsOf(c), plausible: isPlausible(c.ms, now) }));
    candidates.sort((a, b) => rank(a, now) - rank(b, now) || b.ms - a.ms);
    // Of UUIDs, only those of version 7 begin with a time, unless they are ULIDs.
    const version = /^[0-9a-f]{8}-?[0-9a-f]{4}-?([0-9a-f])[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.exec(text)?.[1];
    if (version !== undefined && !candidates.some(c => c.plausible || c.kind === 'uuidv7'))
      return { text, candidates: [], serial: false, problem: `A UUID of version ${version}, which has no time.${version === '8' ? ' It can be a sealed ID, which only its database can read.' : ''}` };
    const serial = /^\d+$/.test(digits) && BigInt(digits) < 2n ** 32n;
    return { text, candidates, serial, problem: candidates.length ? '' : problemOf(digits) };
  }

  function problemOf(text) {
    if (/^-\d+$/.test(text)) return 'Snowflakes are not negative. An unsigned 64-bit ID can look like this in a signed column.';
    if (/^\d{19,}$/.test(text)) return 'The number has more than 63 bits, so it is no Snowflake.';
    return 'This is neither an ID that Snowdrift knows nor a time. IDs have decimal digits, 13, 16, 26, 32 or 36 characters, or a prefix and an underscore.';
  }

  // ---- several texts -------------------------------------------------------------------------

  const formatOf = candidate => candidate.layout ?? candidate.kind;

  // The formats in which all texts have a plausible time: [{ format, times }], in the order of the first text.
  function common(answers) {
    const plausible = answers.map(a => a.candidates.filter(c => c.plausible));
    return plausible[0].map(formatOf).filter(format => plausible.every(list => list.some(c => formatOf(c) === format)))
      .map(format => ({ format, times: plausible.map(list => list.find(c => formatOf(c) === format).ms) }));
  }

  // ---- times ---------------------------------------------------------------------------------

  // A time in UTC, unless it has another zone, in Unix milliseconds; undefined if the text is none.
  function parseTime(input) {
    const text = input.trim();
    if (!/^\d{4}-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d([.]\d+)?)?)?)?\s*(Z|UTC|[+-]\d\d(:?\d\d)?)?$/i.test(text)) return undefined;
    const [, date, zone] = /^(.*?)\s*(Z|UTC|(?<=:\d\d(?:[.]\d+)?)[+-]\d\d(?::?\d\d)?)?$/i.exec(text);
    const offset = !zone || /^(Z|UTC)$/i.test(zone) ? 'Z' : zone.replace(/^([+-]\d\d):?(\d\d)?$/, (_, h, m) => `${h}:${m ?? '00'}`);
    const iso = date.replace(' ', 'T');
    const ms = Date.parse(iso.includes('T') ? iso + offset : iso);
    return Number.isNaN(ms) ? undefined : ms;
  }

  const boundaries = ms => answer(wasm.boundaries(BigInt(ms)));

  return { ready, layouts, setLayout, inspect, common, formatOf, parseTime, boundaries };
})();
