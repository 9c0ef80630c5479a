import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where `npm run test:clickhouse -- --install` unpacks the servers. Nothing is installed into the system. */
const folder = process.env.HALYARD_CLICKHOUSE_FOLDER ?? join(homedir(), '.cache', 'halyard-clickhouse')

/** Programs of Debian's packages, unpacked or installed. */
export interface Software {
  readonly clickHouse: string
  /** Folders of shared libraries, as LD_LIBRARY_PATH names them. */
  readonly libraries: string
  readonly jars: string
}

export function findServers(): Software | undefined {
  return [join(folder, 'debian'), '/']
    .map(root => ({
      clickHouse: ['usr/sbin', 'usr/bin'].map(bin => join(root, bin, 'clickhouse-server')).find(existsSync) ?? '',
      libraries: ['usr/lib', 'lib'].map(part => join(root, part, 'x86_64-linux-gnu')).join(':'),
      jars: join(root, 'usr/share/java'),
    }))
    .find(({ clickHouse, jars }) => clickHouse !== '' && existsSync(join(jars, 'zookeeper.jar')))
}

/** The folder of the npm package `chdb`. */
export function findChdb(): string | undefined {
  const path = join(folder, 'chdb/node_modules/chdb')
  return existsSync(path) ? path : undefined
}
