import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { IdService } from '@leaf-ids/core';
import { LeafId, LeafIdSubscriber, SnowflakeId } from '@leaf-ids/orm';
import { RecordingIdService } from '../../support/fakes/recording-id-service';
import { FILES, OrmDatabases } from '../../support/servers/orm-databases';
import { formatsContract } from '../../support/contract/leaf-id-formats.contract';
import { entities, Event, subscriberContract } from '../../support/contract/leaf-id-subscriber.contract';
import { treesContract } from '../../support/contract/leaf-id-trees.contract';
import { upsertContract } from '../../support/contract/leaf-id-upsert.contract';

describe('keys', () => subscriberContract(['SQLite exact']));
describe('formats', () => formatsContract(['SQLite exact']));
describe('trees', () => treesContract(FILES));
describe('stored rows', () => upsertContract(FILES));

it('refuses an ID that the driver has rounded', async () => {
  const dataSource = await new OrmDatabases().open('SQLite', entities);
  try {
    new LeafIdSubscriber(dataSource, new RecordingIdService());
    const { id } = await dataSource.getRepository(Event).save({});
    await expect(dataSource.getRepository(Event).findBy({ id })).rejects.toMatchObject({ code: 'LEAF_ID_INVALID' });
  } finally {
    await dataSource.destroy();
  }
});

it('refuses to insert where TypeORM does not report statements, because upserts would not be checked', async () => {
  const dataSource = await new OrmDatabases().open('SQLite exact', entities);
  try {
    Object.assign(new LeafIdSubscriber(dataSource, new RecordingIdService()), { beforeQuery: undefined });
    const events = dataSource.getRepository(Event);
    await expect(events.save([{}, {}])).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    await expect(events.insert({})).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID' });
    expect(await events.count()).toBe(0);
  } finally {
    await dataSource.destroy();
  }
});

it('is a provider of Nest', async () => {
  const dataSource = await new OrmDatabases().create('SQLite exact', entities);
  const given = [
    { provide: DataSource, useValue: dataSource },
    { provide: IdService, useValue: new RecordingIdService() },
  ];
  const module = await Test.createTestingModule({ providers: [LeafIdSubscriber, ...given] }).compile();
  expect(dataSource.subscribers).toEqual([module.get(LeafIdSubscriber)]);
});

it('leaves another subscriber of its kind in place', async () => {
  const dataSource = await new OrmDatabases().create('SQLite exact', entities);
  const made = [new RecordingIdService(), new RecordingIdService()].map((ids) => new LeafIdSubscriber(dataSource, ids));
  await dataSource.initialize();
  try {
    expect(dataSource.subscribers).toEqual(made);
  } finally {
    await dataSource.destroy();
  }
});

describe('a key', () => {
  const declare = (type: unknown, apply: PropertyDecorator): void => {
    class Wrong {
      id: unknown;
    }
    Reflect.defineMetadata('design:type', type, Wrong.prototype, 'id');
    apply(Wrong.prototype, 'id');
  };

  it('is refused on a property that cannot hold it', () => {
    expect(() => declare(Number, LeafId('order'))).toThrow('Wrong.id');
    expect(() => declare(undefined, SnowflakeId())).toThrow("as: 'bigint'");
  });

  it('is refused for a tag that there cannot be', () => {
    expect(() => LeafId('no tag')).toThrow(expect.objectContaining({ code: 'LEAF_TAG_INVALID' }));
  });
});
