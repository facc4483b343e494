import { LeafClient } from '@leaf-ids/client';

const [, , url = ''] = process.argv;

async function main(): Promise<void> {
  const client = new LeafClient({ servers: [url] });
  const ids = [await client.nextId('leaf-segment-test'), ...(await client.snowflakes(1))];
  console.log(`IDs: ${ids.join(' ')}`);
  await client.close();
}

void main();
