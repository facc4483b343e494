import { existsSync } from 'node:fs';
import { loadConfig, type LeafConfig } from './leaf-config';

/**
 * The settings of this process: its environment, and a file `.env` in the working directory for what is not set there.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function readConfig(): LeafConfig {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return loadConfig(process.env);
}
