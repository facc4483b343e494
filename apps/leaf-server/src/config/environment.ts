import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { LeafError } from '@leaf-ids/core';
import { loadConfig, type LeafConfig, type LogConfig } from './leaf-config';

/** Windows editors begin a file with it. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/** Settings from a file in the format of another service. */
export interface FileSettings {
  /** Environment variables by name. */
  readonly env: Readonly<Record<string, string>>;
  /** Warnings for the operator that do not prevent the start. */
  readonly warnings: readonly string[];
}

/**
 * The settings of this process: its environment, and for what is not set or empty there a file `.env` in the working
 * directory, and the file that `LEAF_PROPERTIES_FILE` names.
 *
 * @param readProperties reads that file
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function readConfig(
  readProperties: (file: string) => FileSettings,
  { env = process.env, directory = '.' }: { readonly env?: NodeJS.ProcessEnv; readonly directory?: string } = {},
): LeafConfig {
  const files = readEnvFile(resolve(directory, '.env'), env);
  const file = env.LEAF_PROPERTIES_FILE ?? '';
  const { env: properties, warnings } = file === '' ? { env: {}, warnings: [] } : readProperties(file);
  if (file !== '') files.push(resolve(file));
  const given = Object.entries(env).filter(([, value]) => value !== '');
  const config = loadConfig({ ...env, ...properties, ...Object.fromEntries(given) });
  return { ...config, warnings: [...warnings, ...config.warnings], files: [...files, ...config.files] };
}

/** How to log the fault of a start, also when the settings are invalid. */
export function startFaultLog(env = process.env, terminal = process.stdout.isTTY): LogConfig {
  const { LEAF_LOG_FORMAT: format, LEAF_LOG_TIME: time } = env;
  const isJson = format === 'json' || (format !== 'pretty' && !terminal);
  return { level: 'error', format: isJson ? 'json' : 'pretty', time: time === 'epoch' ? 'epoch' : 'iso' };
}

/**
 * Sets what is not set or empty, for child processes and libraries as well.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
function readEnvFile(file: string, env: NodeJS.ProcessEnv): string[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8').replace(BYTE_ORDER_MARK, '');
  const invalid = invalidLines(text);
  if (invalid.length > 0) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `The file ${file} has lines that are not NAME=value: line ${invalid.join(', ')}. Correct them, or begin them with #.`,
    );
  }
  for (const [name, value] of Object.entries(parseEnv(text))) env[name] ||= value;
  return [file];
}

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
