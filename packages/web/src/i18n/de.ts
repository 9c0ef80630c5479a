import { account } from './de/account.de.ts'
import { approvals } from './de/change-control/approvals.de.ts'
import { environments } from './de/change-control/environments.de.ts'
import { cohorts } from './de/cohorts.de.ts'
import { conditions } from './de/conditions.de.ts'
import { editor } from './de/editor.de.ts'
import { explain } from './de/explain.de.ts'
import { flags } from './de/flags.de.ts'
import { general } from './de/general.de.ts'
import { history } from './de/history.de.ts'
import { identity } from './de/identity.de.ts'
import { organizations } from './de/organizations.de.ts'
import { persons } from './de/persons.de.ts'
import { plugins } from './de/plugins.de.ts'
import { projects } from './de/projects.de.ts'
import { schedule } from './de/schedule.de.ts'
import { session } from './de/session.de.ts'
import { shell } from './de/shell.de.ts'
import { audit } from './de/tools/audit.de.ts'
import { health } from './de/tools/health.de.ts'
import { home } from './de/tools/home.de.ts'
import { imports } from './de/tools/imports.de.ts'
import { playground } from './de/tools/playground.de.ts'
import { provisioning } from './de/tools/provisioning.de.ts'
import { setup } from './de/tools/setup.de.ts'
import { views } from './de/tools/views.de.ts'
import type { Messages } from './en.ts'

/** All German messages, loaded on demand in one chunk. */
export const de: Messages = {
  ...general,
  ...session,
  ...shell,
  ...flags,
  ...conditions,
  ...editor,
  ...explain,
  ...health,
  ...history,
  ...schedule,
  ...persons,
  ...organizations,
  ...identity,
  ...projects,
  ...account,
  ...cohorts,
  ...imports,
  ...home,
  ...playground,
  ...setup,
  ...views,
  ...audit,
  ...provisioning,
  ...plugins,
  ...approvals,
  ...environments,
}
