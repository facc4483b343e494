/** One entry of a `.properties` file. */
export interface Property {
  readonly value: string;
  /** Line on which the entry starts, from 1. */
  readonly line: number;
}

export interface Properties {
  /** If a key occurs more than once, the last entry wins, as in Java. */
  readonly entries: ReadonlyMap<string, Property>;
  /** Each with its line but without the invalid text, which can be a secret. */
  readonly faults: readonly string[];
}

interface LogicalLine {
  readonly text: string;
  readonly line: number;
}

/** The key ends at the first unescaped `=`, `:` or white space. One separator and the value follow. */
const ENTRY = /^((?:\\[^]|[^\\=: \t\f])*)[ \t\f]*(?:[=:][ \t\f]*)?([^]*)$/;
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|([^]))/g;
const CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

/** Parses the format of `java.util.Properties`. Trailing white space is part of the value. */
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

/** Skips comments and blank lines. A line that ends in an unescaped backslash continues on the next line. */
function* logicalLines(text: string): Generator<LogicalLine> {
  const lines = text.split(/\r\n|\r|\n/).map((line) => line.replace(/^[ \t\f]+/, ''));
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    let joined = lines[index] ?? '';
    if (joined === '' || joined.startsWith('#') || joined.startsWith('!')) continue;
    while (continues(joined)) joined = joined.slice(0, -1) + (lines[++index] ?? '');
    yield { text: joined, line };
  }
}

function continues(line: string): boolean {
  return /(?<!\\)(?:\\\\)*\\$/.test(line);
}

function unescape(text: string): string {
  return text.replace(ESCAPE, (_, hex: string | undefined, character = '') => {
    if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
    if (character === 'u') throw new Error('malformed \\u');
    return CONTROLS[character as string] ?? (character as string);
  });
}
