import { formatsContract } from '../../embedded/leaf-id-formats.contract';
import { subscriberContract } from '../../embedded/leaf-id-subscriber.contract';
import { treesContract } from '../../embedded/leaf-id-trees.contract';
import { upsertContract } from '../../embedded/leaf-id-upsert.contract';
import { SERVERS } from '../../support/servers/orm-databases';

describe('keys', () => subscriberContract(['MariaDB', 'PostgreSQL']));
describe('formats', () => formatsContract(['MariaDB', 'PostgreSQL']));
describe('trees', () => treesContract(SERVERS));
describe('stored rows', () => upsertContract(SERVERS));
