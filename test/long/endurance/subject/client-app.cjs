// node client-app.cjs <the built client> <server>…: an application that takes IDs through a LeafClient. For each line
// that it reads it asks for a few of each kind, and writes how many of the two calls were answered.
'use strict';
const { createInterface } = require('node:readline');

const [library, ...servers] = process.argv.slice(2);
const { LeafClient } = require(library);

/** Little at a time, so that it is fetched again and again. */
const LITTLE = { minSize: 50, maxSize: 50, durationMs: 1000 };
const COUNT = 20;
const TAG = 'endurance';

const client = new LeafClient({ servers, segment: LITTLE, snowflake: LITTLE });

createInterface({ input: process.stdin }).on('line', async () => {
  const calls = await Promise.allSettled([client.nextIds(TAG, COUNT), client.snowflakes(COUNT)]);
  console.log(calls.filter(({ status }) => status === 'fulfilled').length);
});
