import { sqlWorkerRegistryContract } from '../../support/contract/sql-worker-registry.contract';
import { sqlWorkerStoreContract } from '../../support/contract/sql-worker-store.contract';
import { SERVER_HOSTS } from '../../support/servers/worker-databases';

sqlWorkerStoreContract(SERVER_HOSTS);
sqlWorkerRegistryContract(SERVER_HOSTS);
