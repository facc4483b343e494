import { Snowflake as SapphireSnowflake } from '@sapphire/snowflake';
import { DEFAULT_EPOCH } from '@leaf-ids/core';
import FlakeId from 'flake-idgen';
import { nanoid } from 'nanoid';
import { Snowflake as NodejsSnowflake } from 'nodejs-snowflake';
import { type Contender, contender, read } from './contender';

/** The minimum cost of an ID: incrementing a number and creating a bigint. */
export function counter(): Contender {
  let count = 0;
  return contender('baseline', 'counter++ as bigint', 'bigint', (ids, from, to) => {
    for (let i = from; i < to; i++) ids[i] = BigInt(count++);
    return to;
  });
}

class NamedCounter {
  private count = 0;

  constructor(private readonly name: string) {}

  tryNext(name: string): number | undefined {
    return name === this.name ? this.count++ : undefined;
  }
}

/** The minimum cost of a number: a call with a name that increments a number. */
export function namedCounter(): Contender {
  const counters = new NamedCounter('order');
  return contender('baseline', "counter.tryNext('order') as number", 'number', (ids, from, to) => {
    for (let i = from; i < to; i++) ids[i] = counters.tryNext('order');
    return to;
  });
}

function sapphire(): Contender {
  const generator = new SapphireSnowflake(DEFAULT_EPOCH);
  return contender('peer', '@sapphire/snowflake', 'bigint', (ids, from, to) => {
    for (let i = from; i < to; i++) ids[i] = generator.generate();
    return to;
  });
}

function flakeIdgen(): Contender {
  const generator = new FlakeId({ id: 1, epoch: DEFAULT_EPOCH });
  return {
    ...contender('peer', 'flake-idgen', '8-byte Buffer', (ids, from, to) => {
      for (let i = from; i < to;) {
        try {
          for (; i < to; i++) ids[i] = generator.next();
        } catch {
          // It throws if a millisecond has no IDs left; its callback API waits longer, on a timer.
          for (const now = Date.now(); Date.now() === now;);
        }
      }
      return to;
    }),
    key: (id) => (id as Buffer).readBigUInt64BE(),
  };
}

function nodejsSnowflake(): Contender {
  const generator = new NodejsSnowflake({ custom_epoch: DEFAULT_EPOCH, instance_id: 1 });
  return contender('peer', 'nodejs-snowflake', 'bigint', (ids, from, to) => {
    for (let i = from; i < to; i++) ids[i] = generator.getUniqueID();
    return to;
  });
}

function nanoids(): Contender {
  return contender('peer', 'nanoid', 'string, read', (ids, from, to) => {
    for (let i = from; i < to; i++) ids[i] = read(nanoid());
    return to;
  });
}

export const PEER_PACKAGES = ['@sapphire/snowflake', 'flake-idgen', 'nodejs-snowflake', 'nanoid'];

export function peerContenders(): Contender[] {
  return [sapphire(), flakeIdgen(), nodejsSnowflake(), nanoids()];
}
