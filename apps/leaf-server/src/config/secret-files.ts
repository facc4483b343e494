import { readFileSync } from 'node:fs';
import { codeOf } from '@leaf-ids/core/internal';
import { VARIABLES } from './variables';

/** Variables whose value may be in a file instead, which `<name>_FILE` names: a secret that Kubernetes mounts. */
const IN_FILE = Object.keys(VARIABLES).filter((name) => `${name}_FILE` in VARIABLES);

export interface SecretFiles {
  /** The environment, with the content of the files as the values of their variables. */
  readonly env: NodeJS.ProcessEnv;
  readonly files: readonly string[];
  readonly faults: readonly string[];
}

export function withSecretFiles(given: NodeJS.ProcessEnv): SecretFiles {
  const env = { ...given };
  const files: string[] = [];
  const faults: string[] = [];
  for (const name of IN_FILE) {
    const file = given[`${name}_FILE`];
    if (!file) continue;
    if (given[name]) {
      faults.push(`${name} and ${name}_FILE are both set: remove one`);
      continue;
    }
    try {
      env[name] = readSecret(file);
      files.push(file);
    } catch (error) {
      faults.push(`${name}_FILE ${(error as Error).message}`);
    }
  }
  return { env, files, faults };
}

/**
 * The content of a file, without the line break at its end.
 *
 * @throws Error whose message says what is wrong, without the content
 */
export function readSecret(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new Error(`must name a file that this user can read (${codeOf(error) ?? 'failed'})`, { cause: error });
  }
  if (text === '') throw new Error('must name a file that is not empty');
  return text;
}
