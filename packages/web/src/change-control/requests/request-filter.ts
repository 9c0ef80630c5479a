export const requestFilters = ['inbox', 'open', 'mine', 'closed', 'emergencies', 'all'] as const
export type RequestFilter = (typeof requestFilters)[number]

export const readRequestFilter = (search: Record<string, unknown>): { show?: RequestFilter | undefined } => ({
  show: requestFilters.find(name => name === search.show),
})

/** The query parameters of the list for each filter. */
export const filterQueries: Readonly<Record<RequestFilter, Readonly<Record<string, string>>>> = {
  inbox: { mine: '1' },
  open: { state: 'pending,approved,conflicted' },
  mine: { requester: '@me' },
  closed: { state: 'applied,rejected,cancelled,expired,failed' },
  emergencies: { review: 'open' },
  all: {},
}
