import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WINDOW_MS } from '@leaf-ids/core/internal';
import { DEFAULT_CLIENT_OPTIONS } from '@leaf-ids/client';

const page = readFileSync(join(__dirname, '../../../docs/client.md'), 'utf8');

/** `segment.minSize` → 100 and so on; the layout has a page of its own. */
function flatten(options: object, prefix = ''): [string, number][] {
  return Object.entries(options).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'number' ? [[prefix + name, value]] : flatten(value as object, `${prefix}${name}.`),
  );
}

it('docs/client.md has every option with its default, and no other', () => {
  const rows = [...page.matchAll(/^\| `([a-zA-Z.]+)` \| *(?:`(\d+)`)? *\|/gm)].map(([, name, value]) => [name, value]);
  const { layout, ...defaults } = DEFAULT_CLIENT_OPTIONS;
  expect(layout).toBeDefined();
  const withDefault = rows.filter(([, value]) => value !== undefined);
  const withWindow = [...flatten(defaults), ['snowflake.windowMs', WINDOW_MS.default]] as const;
  expect(withDefault.sort()).toEqual(withWindow.map(([name, value]) => [name, String(value)]).sort());
  expect(rows.filter(([, value]) => value === undefined).flat()).toEqual(
    [
      'servers',
      'zone',
      'prefetch',
      'preload',
      'layout',
      'token',
      'events',
      'snowflake.holder',
      'snowflake.token',
    ].flatMap((name) => [name, undefined]),
  );
});
