import { join } from 'node:path';
import type { Instance } from '@leaf-ids/core';
import { type Rules, text } from '@leaf-ids/core/internal';
import { PropertiesWorkerFile } from '../file/properties-worker-file';
import type { StrategyParts } from './strategy';

export interface FileOptions {
  /**
   * Directory of the worker file that replaces an unreachable registry. If omitted, no IDs are issued above the
   * recorded ceiling.
   */
  readonly fileDirectory?: string;
}

export const FILE_RULES: Rules<FileOptions> = { fileDirectory: text };

export function fileOf({ fileDirectory }: FileOptions): Pick<StrategyParts, 'file'> {
  return fileDirectory === undefined ? {} : { file: new PropertiesWorkerFile(fileDirectory) };
}

/** Each process of a server has a separate file. */
export function ofProcess<Options extends FileOptions>(options: Options, _server: Instance, process: number): Options {
  const { fileDirectory } = options;
  return fileDirectory === undefined
    ? options
    : { ...options, fileDirectory: join(fileDirectory, `process-${process}`) };
}
