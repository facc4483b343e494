import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/**
 * Replaces the lines of a document between `<!-- name: begin -->` and `<!-- name: end -->`.
 *
 * @param {string} document its path in this repository
 * @param {string} name
 * @param {readonly string[]} lines
 */
export function writeSection(document, name, lines) {
  const file = join(root, document);
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const text = readFileSync(file, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${document} has no ${begin} … ${end}`);
  writeFileSync(file, `${text.slice(0, from + begin.length)}\n\n${lines.join('\n')}\n\n${text.slice(to)}`);
}
