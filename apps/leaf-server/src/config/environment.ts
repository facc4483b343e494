import { existsSync, readFileSync } from 'node:fs';
import { LeafError, messageOf } from '@leaf/core';
import { type JavaProperties, readJavaProperties } from '../java-compat/java-properties';
import { loadConfig, type LeafConfig } from './leaf-config';

/**
 * The settings of this process: its environment, and for what is not set there a file `.env` in the working directory,
 * and a `leaf.properties` of the Java service if one is named.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function readConfig(): LeafConfig {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const java = readJavaFile(process.env.LEAF_PROPERTIES_FILE);
  const given = Object.entries(process.env).filter(([, value]) => value !== '');
  const config = loadConfig({ ...java.env, ...Object.fromEntries(given) });
  return { ...config, warnings: [...java.warnings, ...config.warnings] };
}

function readJavaFile(file: string | undefined): JavaProperties {
  if (file === undefined || file === '') return { env: {}, warnings: [] };
  let text: string;
  try {
    // As Java reads such files.
    text = readFileSync(file, 'latin1');
  } catch (error) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `The file of LEAF_PROPERTIES_FILE cannot be read: ${messageOf(error)}. Name a leaf.properties that this user may read.`,
      { cause: error },
    );
  }
  return readJavaProperties(text, file);
}
