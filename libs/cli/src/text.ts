import { visible } from '@leaf-ids/core/internal';

/** One line for each fact that is not undefined, with its name. */
export function lines(facts: object): string {
  const entries = Object.entries(facts).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : [[name, visible(typeof value === 'string' ? value : JSON.stringify(value))]],
  );
  const width = Math.max(...entries.map(([name = '']) => name.length));
  return entries.map(([name = '', value = '']) => `${name.padEnd(width)}  ${value}`.trimEnd()).join('\n');
}
