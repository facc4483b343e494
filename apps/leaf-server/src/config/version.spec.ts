import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverVersion } from './version';

it('is that of the package', () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../../../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(serverVersion()).toBe(version);
});

it('does not look for ever when there is no package', () => {
  expect(serverVersion('/')).toBe('unknown');
});
