/** An empty line, a comment or `NAME=value`, from the beginning of a line; a quoted value may span lines. */
const ENTRY =
  /(?:[ \t]*#[^\n]*| *(?:export +)?[\w.-]+ *=[ \t]*(?:(?:"[^"]*"|'[^']*'|`[^`]*`)[ \t]*(?:#[^\n]*|\r?)|(?!["'`])[^\n]*)|[ \t]*)\r?(?:\n|$)/y;

/**
 * The numbers of the lines that are not entries. `parseEnv` of Node.js adds such a line to the name in
 * the next one, and also adds a tab before a name to that name.
 */
export function invalidLines(text: string): number[] {
  const invalid: number[] = [];
  for (let position = 0; position < text.length;) {
    ENTRY.lastIndex = position;
    if (ENTRY.test(text)) {
      position = ENTRY.lastIndex;
      continue;
    }
    invalid.push(text.slice(0, position).split('\n').length);
    const end = text.indexOf('\n', position);
    position = end < 0 ? text.length : end + 1;
  }
  return invalid;
}
