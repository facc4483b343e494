const LOOPS = 16;
const RETRY_MS = 50;

/** Takes `count` IDs with several loops at once, retries after errors, and prints the IDs. */
module.exports = async function takeIds(incr, count) {
  const ids = [];
  let started = 0;
  const loop = async () => {
    while (started < count) {
      started++;
      try {
        ids.push(await incr());
      } catch {
        started--;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
      if (ids.length === Math.floor(count / 2)) process.stderr.write('half\n');
    }
  };
  await Promise.all(Array.from({ length: LOOPS }, loop));
  process.stdout.write(`${ids.join('\n')}\n`);
};
