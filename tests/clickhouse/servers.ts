import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../free-port.ts'
import { findChdb, findServers, type Software } from './software.ts'

/** A server that can be killed and started again on its data. */
export interface Killable {
  kill(): Promise<void>
  start(): Promise<void>
}

export interface Cluster {
  /** `EVENTS_URL` with `/database` as the name of the database. */
  readonly url: string
  readonly replicas: readonly (Killable & { readonly url: string })[]
  readonly keeper: Killable | undefined
  close(): Promise<void>
}

const password = 'p@ss:word'
const readyMillisecondsMax = 60_000
/** Two servers on one address count as one. */
const addresses = ['127.0.0.2', '127.0.0.3']

/** The ClickHouse that TEST_CLICKHOUSE names. */
export async function startLane(lane: string | undefined): Promise<Cluster> {
  const servers = findServers()
  if (lane === 'replicated' && servers) return startCluster(servers)
  const chdb = findChdb()
  if (lane === 'current' && chdb) return startChdb(chdb)
  throw new Error('ClickHouse is not installed. Run: npm run test:clickhouse -- --install')
}

/** Two replicas and their ZooKeeper. */
export async function startCluster(software: Software): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-clickhouse-'))
  const [keeperPort, httpPort, tcpPort, replicationPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ]
  const keeper = zooKeeper(software, join(folder, 'zookeeper'), keeperPort)
  await keeper.start()
  const replicas = addresses.map((address, n) => {
    const path = join(folder, `replica-${n + 1}`)
    const ports = { keeperPort, httpPort, tcpPort, replicationPort }
    writeReplica(path, address, ports, `replica-${n + 1}`)
    const url = `http://${address}:${httpPort}`
    const server = runProgram(software.clickHouse, [`--config-file=${join(path, 'config.xml')}`], path, {
      LD_LIBRARY_PATH: software.libraries,
    })
    return { url, kill: server.kill, start: () => server.start(() => answers(url)) }
  })
  const close = async () => {
    await Promise.all(replicas.map(({ kill }) => kill()))
    await keeper.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  const started = await Promise.allSettled(replicas.map(({ start }) => start()))
  const failed = started.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') {
    await close()
    throw failed.reason
  }
  const hosts = addresses.map(address => `${address}:${httpPort}`).join(',')
  const url = `clickhouse://halyard:${encodeURIComponent(password)}@${hosts}/database?replicated=1`
  return { url, replicas, keeper, close }
}

/** The engine of today in a process of its own, behind HTTP. */
export async function startChdb(library: string): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-chdb-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const program = join(import.meta.dirname, 'chdb-server.mjs')
  const server = runProgram(process.execPath, [program, library, join(folder, 'data'), String(port)], folder, {})
  const start = () => server.start(() => answers(url))
  await start()
  return {
    url: `clickhouse://halyard:${encodeURIComponent(password)}@127.0.0.1:${port}/database`,
    replicas: [{ url, kill: server.kill, start }],
    keeper: undefined,
    async close() {
      await server.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const authorization = `Basic ${Buffer.from(`halyard:${password}`).toString('base64')}`
  const response = await fetch(url, { method: 'POST', body: 'SELECT 1', headers: { authorization } }).catch(
    () => undefined,
  )
  return response?.ok ?? false
}

function runProgram(command: string, args: readonly string[], folder: string, environment: Record<string, string>) {
  mkdirSync(folder, { recursive: true })
  let child: ChildProcess | undefined
  return {
    async start(isReady: () => Promise<boolean>): Promise<void> {
      const log = openSync(join(folder, 'log'), 'a')
      child = spawn(command, args, {
        cwd: folder,
        env: { ...process.env, ...environment },
        stdio: ['ignore', log, log],
      })
      const end = Date.now() + readyMillisecondsMax
      while (!(await isReady())) {
        if (child.exitCode !== null || Date.now() > end)
          throw new Error(`${command} did not start:\n${readFileSync(join(folder, 'log'), 'utf8').slice(-2000)}`)
        await wait(50)
      }
    },
    async kill(): Promise<void> {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

const libraries =
  /^(zookeeper|zookeeper-jute|log4j-1\.2|slf4j-api|slf4j-log4j12|netty-all|metrics-core|snappy-java|commons-cli|commons-lang|commons-io)(-[\d.]+)?\.jar$/

function zooKeeper({ jars }: Software, folder: string, port: number) {
  mkdirSync(folder, { recursive: true })
  const classPath = [
    folder,
    ...readdirSync(jars)
      .filter(name => libraries.test(name))
      .map(name => join(jars, name)),
  ]
  const settings = [`dataDir=${join(folder, 'data')}`, `clientPort=${port}`, 'clientPortAddress=127.0.0.1']
  writeFileSync(join(folder, 'zoo.cfg'), ['tickTime=500', 'admin.enableServer=false', ...settings].join('\n'))
  const appender = 'log4j.appender.stderr'
  writeFileSync(
    join(folder, 'log4j.properties'),
    `log4j.rootLogger=WARN, stderr\n${appender}=org.apache.log4j.ConsoleAppender\n${appender}.layout=org.apache.log4j.SimpleLayout\n`,
  )
  const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain'
  const server = runProgram('java', ['-Xmx128m', '-cp', classPath.join(':'), main, join(folder, 'zoo.cfg')], folder, {})
  return { kill: server.kill, start: () => server.start(async () => true) }
}

function writeReplica(
  folder: string,
  address: string,
  ports: Record<'keeperPort' | 'httpPort' | 'tcpPort' | 'replicationPort', number>,
  name: string,
): void {
  for (const part of ['data', 'tmp', 'files', 'formats']) mkdirSync(join(folder, part), { recursive: true })
  writeFileSync(
    join(folder, 'config.xml'),
    `<yandex>
      <logger><level>warning</level><console>1</console></logger>
      <http_port>${ports.httpPort}</http_port><tcp_port>${ports.tcpPort}</tcp_port>
      <interserver_http_port>${ports.replicationPort}</interserver_http_port>
      <listen_host>${address}</listen_host><interserver_http_host>${address}</interserver_http_host>
      <path>${folder}/data/</path><tmp_path>${folder}/tmp/</tmp_path>
      <user_files_path>${folder}/files/</user_files_path><format_schema_path>${folder}/formats/</format_schema_path>
      <users_config>users.xml</users_config><default_profile>default</default_profile>
      <default_database>default</default_database><mark_cache_size>67108864</mark_cache_size><timezone>UTC</timezone>
      <zookeeper>
        <node><host>127.0.0.1</host><port>${ports.keeperPort}</port></node><session_timeout_ms>4000</session_timeout_ms>
      </zookeeper>
      <macros><replica>${name}</replica></macros>
    </yandex>`,
  )
  writeFileSync(
    join(folder, 'users.xml'),
    `<yandex>
      <profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
      <users><halyard>
        <password>${password}</password><networks><ip>::/0</ip></networks>
        <profile>default</profile><quota>default</quota>
      </halyard></users>
      <quotas><default/></quotas>
    </yandex>`,
  )
}
