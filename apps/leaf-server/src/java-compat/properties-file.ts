import { readFileSync } from 'node:fs';
import { LeafError, messageOf } from '@leaf-ids/core';
import type { FileSettings } from '../config/environment';
import { readJavaProperties } from './java-properties';

/**
 * The settings in a `leaf.properties` of the Java service.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function readPropertiesFile(file: string): FileSettings {
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
