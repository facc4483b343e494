import { packageVersion } from '@leaf-ids/core/internal';

export function serverVersion(): string {
  return packageVersion(__dirname);
}
