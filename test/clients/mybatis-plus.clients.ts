import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BitLayout, DEFAULT_LAYOUT } from '@leaf-ids/core';
import { ROOT } from '../support/build';
import { command } from '../support/packages';
import { requireTool } from '../support/tools';

/** The first run on a machine fetches the libraries from the registry. */
const BUILD_MS = 300_000;
const WORKER_ID = 709;

const IMPORTS = [
  'com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator',
  'com.baomidou.mybatisplus.core.toolkit.Sequence',
  'org.springframework.stereotype.Component',
];
const HUTOOL = 'cn.hutool.core.lang.Snowflake';

let folder: string;

/** The example of the documentation, with its imports. */
function example(): string {
  const [, code] = /^```java\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, 'docs/worker-windows.md'), 'utf8')) ?? [];
  if (code === undefined) throw new Error('docs/worker-windows.md has no example in Java');
  return IMPORTS.map((name) => `import ${name};\n`).join('') + code;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'leaf-mybatis-plus-'));
  await cp(join(ROOT, 'test/clients/mybatis-plus'), folder, { recursive: true });
  const sources = join(folder, 'src/main/java');
  await writeFile(join(sources, 'LeafIds.java'), example());
  const hutool = example()
    .replace(IMPORTS[1]!, HUTOOL)
    .replaceAll(/\bSequence\b/g, 'Snowflake');
  await writeFile(join(sources, 'HutoolIds.java'), hutool.replace('class LeafIds', 'class HutoolIds'));
  await command(await requireTool('mvn'), ['-q', '-B', 'compile'], folder);
}, BUILD_MS);
afterAll(() => rm(folder, { recursive: true }));

it.each(['LeafIds', 'HutoolIds'])('%s of the documentation issues IDs of the window only', async (name) => {
  const words = ['-cp', 'target/classes:target/dependency/*', 'Check', name, String(WORKER_ID)];
  const lines = (await command(await requireTool('java'), words, folder)).trim().split('\n');
  expect(lines.pop()).toBe('outside of the window');
  const ids = lines.map(BigInt);
  expect(new Set(ids).size).toBe(1000);
  const layout = new BitLayout(DEFAULT_LAYOUT);
  expect(new Set(ids.map((id) => layout.decompose(id).workerId))).toEqual(new Set([WORKER_ID]));
});
