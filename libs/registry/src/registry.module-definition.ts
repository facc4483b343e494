import { ConfigurableModuleBuilder } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { WorkerRegistry } from '@leaf/core';

export interface ZookeeperOptions {
  /** `host:port,host:port[/chroot]`. */
  readonly address: string;
  /** `digest:user:password`. */
  readonly auth?: string;
  /** After how long without a connection ZooKeeper ends the session, in milliseconds; 10,000 by default. */
  readonly sessionMs?: number;
}

interface SharedOptions {
  /** Highest worker ID that is handed out; 1023 by default. */
  readonly maxWorkerId?: number;
}

interface ZookeeperRegistryModuleOptions extends SharedOptions {
  readonly zookeeper: ZookeeperOptions;
  /** Name of the service, part of the paths. */
  readonly name: string;
  /** Where the other servers can ask for our time: `http://10.0.0.7:8080`; left out: nowhere. */
  readonly url?: string;
}

interface StandInOptions {
  /** Where a file stands in for a registry that is away; left out: IDs end at the recorded ceiling then. */
  readonly standInDirectory?: string;
}

type WorkerDatabaseOptions =
  | {
      /** Any database that `LEAF_DATABASE_URL` can name. The lease has connections of its own. */
      readonly url: string;
    }
  | {
      /** Open already, to MySQL, MariaDB or PostgreSQL, and closed by whoever opened it. */
      readonly dataSource: DataSource;
    };

/** Where worker IDs come from. */
export type RegistryModuleOptions =
  | {
      readonly strategy: 'local';
      /** `ip:port` → worker ID; `*` stands for any instance. */
      readonly workers: Readonly<Record<string, number>>;
      /** Where the records are kept. */
      readonly directory: string;
    }
  | (StandInOptions &
      SharedOptions & {
        readonly strategy: 'mysql';
        /** Bring the schema up to date. */
        readonly migrate: boolean;
      } & WorkerDatabaseOptions)
  | (StandInOptions & ZookeeperRegistryModuleOptions & { readonly strategy: 'zk_normal' })
  | (ZookeeperRegistryModuleOptions & { readonly strategy: 'zk_recycle' })
  | {
      readonly strategy: 'custom';
      readonly registry: WorkerRegistry;
    };

/** Without options there is no registry: an application may find out at its start that it needs none. */
export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<
  RegistryModuleOptions | undefined
>()
  .setClassMethodName('forRoot')
  .build();
