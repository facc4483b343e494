// Takes IDs with a build of Leaf, until SIGTERM: node caller.mjs <root of the build> application|client '<options>'.
// `application` is a Nest application with IdModule and these options, `client` a LeafClient. It writes a JSON array per
// line: ["up"] when the first IDs can be taken; ["ids", space, first, count], and ["refused", space, code]; the last element of "ids" is true at the end of a call.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 20;
const MANY = 30;

const [root, kind, text] = process.argv.slice(2);
const require = createRequire(join(root, 'package.json'));
const { tag, period, snowflakes, ...options } = JSON.parse(text);
const say = (...words) => process.stdout.write(`${JSON.stringify(words)}\n`);

const OPEN = {
  async application() {
    require('reflect-metadata');
    const { NestFactory } = require('@nestjs/core');
    const { IdModule, IdService } = require(join(root, 'dist/libs/id/src/index.js'));
    const module = IdModule.forRoot(options);
    const application = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    return { ids: application.get(IdService), close: () => application.close() };
  },
  async client() {
    const { LeafClient } = require(join(root, 'dist/libs/client/src/index.js'));
    const client = new LeafClient({ ...options, preload: { tags: [tag], snowflake: snowflakes } });
    await readyWith(client);
    return { ids: client, close: () => client.close() };
  },
};

const { ids, close } = await OPEN[kind]();
let ending = false;
process.on('SIGTERM', () => (ending = true));

/** The start of the program has a limit, so that of a call may be exceeded. */
async function readyWith(client) {
  for (;;) {
    try {
      return await client.ready();
    } catch (error) {
      process.stderr.write(`${error.code} ${error.message}\n`);
      if (error.code !== 'LEAF_SERVERS_UNAVAILABLE') throw error;
    }
  }
}

const CALLS = [
  [`tag ${tag}`, async () => [await ids.nextId(tag)]],
  [`tag ${tag}`, () => ids.nextIds(tag, MANY)],
  [`period ${period}`, async () => [await ids.nextInPeriod(period)]],
  ...(snowflakes ? [['snowflake', () => Array.from({ length: MANY }, () => ids.snowflake())]] : []),
];

say('up');
for (let turn = 0; !ending; turn++) {
  const [space, take] = CALLS[turn % CALLS.length];
  try {
    const taken = await take();
    if (taken[0]?.period === undefined) report(space, taken);
    else for (const each of taken) report(`${space}@${each.period}`, [each.number]);
  } catch (error) {
    say('refused', space, error.code ?? String(error));
  }
  await sleep(PAUSE_MS);
}
await close();
process.exit(0);

/** One line for consecutive IDs. */
function report(space, taken) {
  let [first, count] = [taken[0], 1];
  for (const id of taken.slice(1)) {
    if (id === first + BigInt(count)) {
      count++;
      continue;
    }
    say('ids', space, String(first), count, false);
    [first, count] = [id, 1];
  }
  say('ids', space, String(first), count, true);
}
