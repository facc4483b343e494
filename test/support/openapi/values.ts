import fc from 'fast-check';
import { MAX_ID } from '@leaf-ids/core';
import type { Schema } from './document';

const DAY_MS = 86_400_000;
const MAX_ITEMS = 3;

/** Names like the example of a schema: few enough that requests meet one another. */
export function variantsOf({ example, pattern }: Schema): string[] {
  if (typeof example !== 'string' || pattern === undefined) return [];
  return ['-1', '-2', '-3'].map((end) => example + end).filter((name) => new RegExp(pattern, 'u').test(name));
}

/** Values that a schema allows, its limits among them; references must have been replaced. */
export function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  const { type, properties, required = [], minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  const example =
    schema.example === undefined
      ? []
      : [{ weight: 3, arbitrary: fc.constantFrom(schema.example, ...variantsOf(schema)) }];
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (type === 'integer') {
    const near = fc.constantFrom(minimum, Math.min(minimum + 1, maximum), maximum);
    return fc.oneof(
      { weight: 1, arbitrary: near },
      { weight: 2, arbitrary: fc.integer({ min: minimum, max: maximum }) },
      ...example,
    );
  }
  if (type === 'boolean') return fc.boolean();
  if (type === 'string') return fc.oneof({ weight: 2, arbitrary: textOf(schema) }, ...example);
  if (type === 'object' && properties !== undefined) {
    const values = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, valueOf(each)]));
    const least = schema.minProperties ?? 0;
    return fc.record(values, { requiredKeys: [...required] }).filter((body) => Object.keys(body).length >= least);
  }
  if (type === 'array' && schema.items !== undefined) {
    const { items, minItems = 0, maxItems = MAX_ITEMS } = schema;
    return fc.uniqueArray(valueOf(items), { minLength: minItems, maxLength: Math.min(maxItems, MAX_ITEMS) });
  }
  throw new Error(`No values are made for ${JSON.stringify(schema)}.`);
}

function textOf({ format, pattern, maxLength }: Schema): fc.Arbitrary<string> {
  const allowed = new RegExp(pattern ?? '', 'u');
  if (format === 'int64') {
    const numbers = fc.oneof(
      { weight: 15, arbitrary: fc.bigInt({ min: 0n, max: 100_000n }) },
      { weight: 1, arbitrary: fc.oneof(fc.bigInt({ min: 0n, max: MAX_ID }), fc.constant(MAX_ID)) },
    );
    return numbers.map(String).filter((text) => allowed.test(text));
  }
  // How far from now a moment may lie, no schema says.
  if (format === 'date-time') {
    const now = Date.now();
    return fc.integer({ min: now - DAY_MS, max: now + DAY_MS }).map((at) => new Date(at).toISOString());
  }
  if (maxLength !== undefined) {
    // Characters beyond 16 bits, and so many of them that their measure matters.
    const full = { minLength: maxLength - 2, maxLength };
    const texts = fc.oneof(
      fc.string({ maxLength }),
      fc.string({ maxLength, unit: 'binary' }),
      fc.string({ ...full, unit: fc.constantFrom('a', '😀', '\ufe0f') }),
    );
    return texts.map((text) => text.replace(/\p{Cc}/gu, '')).filter((text) => allowed.test(text));
  }
  return fc.stringMatching(allowed);
}

/** Text that nobody expects. */
export function hostileText(): fc.Arbitrary<string> {
  const names = [
    '',
    ' ',
    '.',
    '..',
    '/',
    '%',
    '\0',
    '\n',
    '"',
    "'",
    '*',
    '__proto__',
    'constructor',
    'toString',
    'null',
  ];
  const attacks = [
    "' OR '1'='1",
    ';DROP TABLE leaf_alloc',
    '<script>alert(1)</script>',
    '${jndi:ldap://x}',
    '../../etc/passwd',
  ];
  const numbers = ['0', '-1', '01', '1e3', '0x10', '1.5', 'NaN', '٣', '１', '9223372036854775808', '9'.repeat(400)];
  return fc.oneof(
    fc.constantFrom(...names, ...attacks, ...numbers, 'x'.repeat(129), 'x'.repeat(1500)),
    fc.string({ unit: 'binary', maxLength: 150 }),
    fc.string({ unit: 'grapheme', maxLength: 150 }),
  );
}

/** Numbers beside the limits of a schema, and numbers that are not written as one writes them. */
export function hostileNumber({ minimum = 0, maximum = 0 }: Schema): fc.Arbitrary<string> {
  return fc.constantFrom(
    String(minimum - 1),
    String(maximum + 1),
    '01',
    '+1',
    ' 1',
    '1 ',
    '1.0',
    '1e1',
    '0x1',
    '1,1',
    '١',
  );
}

/** JSON that nobody expects. */
export function hostileJson(): fc.Arbitrary<unknown> {
  const numbers = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(-1, 0, 0.5, 1e308, 2 ** 53, 2 ** 31),
  );
  return fc.oneof(numbers, hostileText(), fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(null, true, [], {}, [[]]));
}
