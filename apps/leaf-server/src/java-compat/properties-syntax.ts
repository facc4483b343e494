/** One entry of a `.properties` file. */
export interface Property {
  readonly value: string;
  /** Where it begins, counted from 1. */
  readonly line: number;
}

export interface Properties {
  /** Of several entries with one key the last counts, as in Java. */
  readonly entries: ReadonlyMap<string, Property>;
  /** Each with its line, without the text that is at fault: it may be a secret. */
  readonly faults: readonly string[];
}

interface LogicalLine {
  readonly text: string;
  readonly line: number;
}

/** Key: up to the first `=`, `:` or white space that is not escaped. Then one separator, and the value. */
const ENTRY = /^((?:\\[^]|[^\\=: \t\f])*)[ \t\f]*(?:[=:][ \t\f]*)?([^]*)$/;
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|([^]))/g;
const CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

/** Reads the format of `java.util.Properties`. White space at the end of a value belongs to it. */
export function parseProperties(text: string): Properties {
  const entries = new Map<string, Property>();
  const faults: string[] = [];
  for (const { text: entry, line } of logicalLines(text)) {
    const [, key = '', value = ''] = ENTRY.exec(entry) ?? [];
    try {
      entries.set(unescape(key), { value: unescape(value), line });
    } catch {
      faults.push(`line ${line}: \\u must be followed by four hexadecimal digits; write a backslash as \\\\`);
    }
  }
  return { entries, faults };
}

/** Without comments and blank lines; a line that ends in an unescaped backslash goes on in the next one. */
function* logicalLines(text: string): Generator<LogicalLine> {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.replace(/^[ \t\f]+/, ''));
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    let joined = lines[index] ?? '';
    if (joined === '' || joined.startsWith('#') || joined.startsWith('!')) continue;
    while (goesOn(joined)) joined = joined.slice(0, -1) + (lines[++index] ?? '');
    yield { text: joined, line };
  }
}

function goesOn(line: string): boolean {
  return /(?<!\\)(?:\\\\)*\\$/.test(line);
}

function unescape(text: string): string {
  return text.replace(ESCAPE, (_, hex: string | undefined, character = '') => {
    if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
    if (character === 'u') throw new Error('malformed \\u');
    return CONTROLS[character as string] ?? (character as string);
  });
}
