import type { Logger } from 'pino'
import { type Config, readConfig } from '../../config.ts'
import { createHalyard, type Halyard } from '../../main.ts'
import { openTelemetry } from '../../observability/telemetry/open-telemetry.ts'
import { shownDatabase } from '../../settings/database-url.ts'
import { version } from '../../version.ts'
import { openLog } from '../log/open-log.ts'
import { addressOf, stopOnSignal, warnOfSettings } from '../process-life.ts'
import { setupLink, welcome } from '../welcome.ts'
import { startHalyard } from './start-halyard.ts'
import { isFirstProcess, isSupervisor, isWorker, sayServing, siblings, supervise } from './workers.ts'

// For tests, which run this bundle in their own process.
export { createHalyard, readConfig }

/** How often credentials that have been used are looked for, to be deleted. */
const forgetUsedMilliseconds = 60_000

/** `halyard serve`: until SIGTERM or SIGINT, which let requests in flight finish. */
export async function serve(config: Config): Promise<void> {
  const telemetry = openTelemetry(process.env, version)
  const { log, outages } = openLog(config, telemetry)
  if (!isWorker()) warnOfSettings(log)
  if (isSupervisor(config.workers)) return supervise(config.workers, log, telemetry?.close)
  const database = shownDatabase(config.databaseUrl)
  const halyard = await startHalyard(config, log, { peers: siblings(), telemetry }, stopOnSignal(log, telemetry))
  outages.watch(database, halyard.storage.ping, log)
  const address = addressOf(config, halyard.app)
  await greet(halyard, config, address, log)
  log.info({ event: 'server_listening', address, database: halyard.storage.dialect }, 'Halyard is serving')
  sayServing()
}

/** Shows the first credentials, at every start until they are used. Outside of a terminal secrets would end up in log collectors. */
async function greet(halyard: Halyard, config: Config, address: string, log: Logger): Promise<void> {
  const { firstOwner } = halyard
  if (firstOwner)
    log.info(
      { event: 'database_initialized', email: firstOwner.email, project: firstOwner.projectId },
      'created the first organization, project and owner',
    )
  if (!isFirstProcess(firstOwner !== undefined)) return
  const pending = await halyard.firstCredentials.find()
  if (!pending) return
  const forget = setInterval(async () => {
    if (!(await halyard.firstCredentials.find().catch(() => pending))) clearInterval(forget)
  }, forgetUsedMilliseconds)
  forget.unref()
  if (config.printCredentials ?? process.stdout.isTTY === true) {
    console.log(welcome(address, pending, config.databaseUrl))
  } else if (pending.setupToken !== null) {
    const setup = setupLink(address, pending.setupToken)
    log.warn({ event: 'setup_required', email: pending.email, setup }, 'open the setup link to choose a password')
  } else {
    log.warn({ event: 'setup_required', email: pending.email }, 'sign in, or run "halyard credentials" to see the key')
  }
}
