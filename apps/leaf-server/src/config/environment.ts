import { existsSync } from 'node:fs';
import { loadConfig, type LeafConfig } from './leaf-config';

/** Settings from a file in the format of another service. */
export interface FileSettings {
  /** Environment variables by name. */
  readonly env: Readonly<Record<string, string>>;
  /** What an operator should know, though it stops nothing. */
  readonly warnings: readonly string[];
}

/**
 * The settings of this process: its environment, and for what is not set there a file `.env` in the working directory,
 * and the file that `LEAF_PROPERTIES_FILE` names.
 *
 * @param readProperties reads that file
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function readConfig(readProperties: (file: string) => FileSettings): LeafConfig {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const file = process.env.LEAF_PROPERTIES_FILE ?? '';
  const { env, warnings } = file === '' ? { env: {}, warnings: [] } : readProperties(file);
  const given = Object.entries(process.env).filter(([, value]) => value !== '');
  const config = loadConfig({ ...env, ...Object.fromEntries(given) });
  return { ...config, warnings: [...warnings, ...config.warnings] };
}
