import { readFileSync } from 'node:fs';
import { LeafError } from '@leaf-ids/core';
import { messageOf } from '@leaf-ids/core/internal';
import type { FileSettings } from '../config/environment';
import { readJavaProperties } from './java-properties';

/**
 * Reads the settings in a `leaf.properties` file of the Java service.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function readPropertiesFile(file: string): FileSettings {
  let text: string;
  try {
    // Java reads .properties files as ISO-8859-1.
    text = readFileSync(file, 'latin1');
  } catch (error) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `Cannot read the file in LEAF_PROPERTIES_FILE: ${messageOf(error)}. Set it to a leaf.properties file that this user can read.`,
      { cause: error },
    );
  }
  return readJavaProperties(text, file);
}
