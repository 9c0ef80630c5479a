import type { Job } from '../../../jobs/job-runner.ts'

/** Per transaction, so that other writers wait only briefly; and the number of transactions per run. */
const personsAtOnceMax = 1000
const transactionsMax = 20
const projectsPerRun = 100

/**
 * Where persons have a database of their own, removes what it has of projects that do not exist any more. A deletion need not wait for that,
 * and an event that another node records at the same moment leaves nothing for ever. Goes through all projects, some in each run; what is
 * left is continued by the next one.
 */
export function removeProjectRemains(): Job {
  let doneUpTo = 0
  return {
    name: 'remove-project-remains',
    async run({ transaction, people, isStopping }) {
      const projectIds = await people.query(tx => tx.projectRemains.listProjectIds(doneUpTo, projectsPerRun))
      // After the list: a project is there before its first person is. A failure ends the run, and nothing counts as deleted.
      const existing = await transaction(tx => tx.projects.listExisting(projectIds))
      let left = transactionsMax
      for (const projectId of projectIds.filter(id => !existing.has(id))) {
        doneUpTo = projectId - 1
        do {
          if (left === 0 || isStopping()) return
          left -= 1
        } while (await people.transaction(tx => tx.projectRemains.removePart(projectId, personsAtOnceMax)))
      }
      doneUpTo = projectIds.length < projectsPerRun ? 0 : projectIds.at(-1)!
    },
  }
}
