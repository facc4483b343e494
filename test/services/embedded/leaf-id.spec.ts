import { formatsContract } from '../../support/contract/leaf-id-formats.contract';
import { subscriberContract } from '../../support/contract/leaf-id-subscriber.contract';
import { treesContract } from '../../support/contract/leaf-id-trees.contract';
import { upsertContract } from '../../support/contract/leaf-id-upsert.contract';
import { SERVERS } from '../../support/servers/orm-databases';

describe('keys', () => subscriberContract(['MariaDB', 'PostgreSQL']));
describe('formats', () => formatsContract(['MariaDB', 'PostgreSQL']));
describe('trees', () => treesContract(SERVERS));
describe('stored rows', () => upsertContract(SERVERS));
