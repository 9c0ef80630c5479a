import type { ReactNode } from 'react'

/** Inline icons: nothing is fetched and unused ones are dropped. Always next to text or a label. */
function icon(drawing: ReactNode) {
  return function Icon({ size = 18 }: { size?: number }) {
    return (
      <svg
        width={size}
        height={size}
        viewBox="0 0 24 24"
        fill="none"
        stroke="currentColor"
        strokeWidth={1.75}
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
        focusable="false"
      >
        {drawing}
      </svg>
    )
  }
}

export const HomeIcon = icon(<path d="m4 11 8-7 8 7v9h-5.5v-6h-5v6H4z" />)
export const FlagIcon = icon(<path d="M6 21V4m0 1 12 3.5L6 13" />)
export const TableIcon = icon(<path d="M4 5h16v14H4zM4 10h16M4 14.5h16M10 10v9" />)
export const PulseIcon = icon(<path d="M3 12h4l3-8 4 16 3-8h4" />)
export const QuestionIcon = icon(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M9.6 9.3a2.5 2.5 0 1 1 3.4 2.9c-.7.3-1 .8-1 1.5M12 16.8v.1" />
  </>,
)
export const UsersIcon = icon(
  <>
    <circle cx="9" cy="8" r="3.2" />
    <path d="M3 20c.4-3.6 2.8-5.4 6-5.4s5.6 1.8 6 5.4M16 5.2a3.2 3.2 0 0 1 0 5.8M17.5 15c2 .6 3.2 2.3 3.5 5" />
  </>,
)
export const CircleIcon = icon(
  <>
    <circle cx="10" cy="12" r="6.5" />
    <circle cx="15.5" cy="12" r="5.5" />
  </>,
)
export const BuildingIcon = icon(
  <path d="M5 21V5l8-2v18M13 9h6v12M3 21h18M8.5 8v.1M8.5 12v.1M8.5 16v.1M16 13v.1M16 17v.1" />,
)
export const ClockIcon = icon(
  <>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 7v5l3.3 2" />
  </>,
)
export const PlugIcon = icon(<path d="M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0V8Zm6 9v4" />)
export const CodeIcon = icon(<path d="m8 8-4 4 4 4M16 8l4 4-4 4M13.5 5l-3 14" />)
export const GraphIcon = icon(
  <>
    <circle cx="5.5" cy="6" r="2.5" />
    <circle cx="5.5" cy="18" r="2.5" />
    <circle cx="18.5" cy="12" r="2.5" />
    <path d="M8 6.5c4 .5 4 5 8 5.3M8 17.5c4-.5 4-5 8-5.3" />
  </>,
)
export const TagIcon = icon(<path d="M4 4h8l8 8-8 8-8-8V4Zm4 4v.1" />)
export const BookmarkIcon = icon(<path d="M7 4h10v16l-5-4-5 4V4Z" />)
export const LayersIcon = icon(<path d="m12 3 9 5-9 5-9-5 9-5ZM3 12.5l9 5 9-5M3 17l9 5 9-5" />)
export const SnowflakeIcon = icon(
  <path d="M12 2v20M3.5 7l17 10M20.5 7l-17 10M9.5 3.5 12 6l2.5-2.5M9.5 20.5 12 18l2.5 2.5" />,
)
export const KeyIcon = icon(
  <>
    <circle cx="8" cy="15" r="4.5" />
    <path d="m11.5 11.5 8-8M16 7l3 3" />
  </>,
)
export const GearIcon = icon(
  <>
    <circle cx="12" cy="12" r="3" />
    <path d="M12 3v2.5M12 18.5V21M3 12h2.5M18.5 12H21M5.6 5.6l1.8 1.8M16.6 16.6l1.8 1.8M18.4 5.6l-1.8 1.8M7.4 16.6l-1.8 1.8" />
  </>,
)
export const PersonIcon = icon(
  <>
    <circle cx="12" cy="8" r="3.8" />
    <path d="M4.5 20.5c.7-4 3.5-6 7.5-6s6.8 2 7.5 6" />
  </>,
)
export const PlusIcon = icon(<path d="M12 5v14M5 12h14" />)
export const SearchIcon = icon(
  <>
    <circle cx="10.5" cy="10.5" r="6.5" />
    <path d="m15.5 15.5 5 5" />
  </>,
)
export const CrossIcon = icon(<path d="M6 6l12 12M18 6 6 18" />)
export const ColumnsIcon = icon(<path d="M5 5h14v14H5zM10 5v14M14.5 5v14" />)
export const ChevronIcon = icon(<path d="m8 10 4 4 4-4" />)
export const SwitchIcon = icon(<path d="m8 9 4-4 4 4M8 15l4 4 4-4" />)
export const UpIcon = icon(<path d="M12 19V5M6 11l6-6 6 6" />)
export const DownIcon = icon(<path d="M12 5v14M6 13l6 6 6-6" />)
export const TrashIcon = icon(<path d="M4 7h16M9.5 7V4h5v3M6.5 7l1 13h9l1-13M10.5 11v5.5M13.5 11v5.5" />)
export const CopyIcon = icon(
  <>
    <rect x="9" y="9" width="11" height="11" rx="2" />
    <path d="M15 9V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v7a2 2 0 0 0 2 2h3" />
  </>,
)
export const CheckIcon = icon(<path d="m5 12.5 4.5 4.5L19 7.5" />)
export const BookIcon = icon(<path d="M5 4.5h10a4 4 0 0 1 4 4v11H9a4 4 0 0 1-4-4v-11Zm0 11a4 4 0 0 1 4-4h10" />)
export const DotsIcon = icon(<path d="M5 12v.1M12 12v.1M19 12v.1" strokeWidth={3} />)
export const LeaveIcon = icon(<path d="M14 4H6a2 2 0 0 0-2 2v12a2 2 0 0 0 2 2h8M10 12h11m0 0-3.5-3.5M21 12l-3.5 3.5" />)
export const KeyboardIcon = icon(
  <>
    <rect x="3" y="6" width="18" height="12" rx="2" />
    <path d="M7 10v.1M11 10v.1M15 10v.1M8 14h8" />
  </>,
)

const starPath = 'm12 4 2.5 5.2 5.6.7-4.1 3.9 1 5.7-5-2.8-5 2.8 1-5.7L4 9.9l5.5-.7L12 4Z'
const StarOutline = icon(<path d={starPath} />)
const StarFilled = icon(<path d={starPath} fill="currentColor" />)
export const StarIcon = ({ isFilled, ...props }: { isFilled?: boolean; size?: number }) =>
  isFilled ? <StarFilled {...props} /> : <StarOutline {...props} />
