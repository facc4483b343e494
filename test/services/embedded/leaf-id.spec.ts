import { subscriberContract } from '../../embedded/leaf-id-subscriber.contract';
import { treesContract } from '../../embedded/leaf-id-trees.contract';
import { upsertContract } from '../../embedded/leaf-id-upsert.contract';
import { SERVERS } from '../../support/servers/orm-databases';

describe('keys', () => subscriberContract(['MariaDB', 'PostgreSQL']));
describe('trees', () => treesContract(SERVERS));
describe('stored rows', () => upsertContract(SERVERS));
