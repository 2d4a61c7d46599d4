/** The Evening Star's articles. The town of Lindenhaven and everything in it are invented. */
const articles = [
  {
    slug: 'comet-over-the-gasworks',
    section: 'Sky',
    title: 'Look up at 21:40: a comet passes over the old gasworks',
    lead: 'It has not been here for nine hundred years and stays for eleven nights. Where to stand, what to bring, and which street lamps will be switched off for it.',
    author: 'Night desk',
    minutes: 4,
    art: 'comet',
    body: [
      'You will find it a hand’s width above the eastern gasholder, moving left so slowly that you will argue about it. No telescope is needed; field glasses make it better, and a blanket makes it much better.',
      'The town turns off the lamps on Kiln Lane, Rope Street and the whole of Crane Island from half past nine until eleven. Trams run with their lights dimmed and their bells on.',
      'The last people who saw it here wrote one line about it in the parish book: it was as if a candle had been drawn across the dark by a careful hand. We have nothing to add.',
    ],
  },
  {
    slug: 'last-tram-gets-a-dance-floor',
    section: 'City',
    title: 'The last tram of the night gets a dance floor',
    lead: 'Line 6 turns around empty at 00:50. From Friday it will do so with the seats folded up and a quartet in the driver’s second cabin.',
    author: 'City desk',
    minutes: 3,
    art: 'tram',
    body: [
      'The idea came from a cleaner who had been dancing alone in it for years. The works council asked for one rule, and got it: shoes with soft soles.',
      'Tickets are the usual ones. The band plays from Merrow Square to the depot, which is eleven minutes, or three slow songs.',
    ],
  },
  {
    slug: 'sound-of-an-empty-stadium',
    section: 'Sound',
    title: 'She records empty places, and now they are sold out',
    lead: 'A stadium at four in the morning, a closed swimming bath, a market before the stalls: the quietest concert of the year has a waiting list.',
    author: 'Stage desk',
    minutes: 8,
    art: 'wave',
    subscribersOnly: true,
    body: [
      'The audience lies on mats in the dark. For the first ten minutes you hear the others breathe. Then the stadium begins, and it turns out that forty thousand empty seats have a note, low and a little warm.',
      'Everything is recorded with two microphones and no cuts. If a dog barks on the third night, the third night is the one she keeps.',
      'Next winter she wants to record the inside of the old gasholder while the comet passes. It will be silent, of course. She is looking forward to how silent.',
    ],
  },
  {
    slug: 'skyline-rules',
    section: 'City',
    title: 'New towers must give back the light they take',
    lead: 'The planning rule fits on a postcard. Whoever casts a shadow on a window at noon owes that window a mirror.',
    author: 'City desk',
    minutes: 3,
    art: 'skyline',
    body: [
      'The first mirror is up, at the corner of Kiln Lane, on the ninth floor of a bank. It follows the sun like a patient flower and gives the flats opposite forty minutes of second-hand daylight.',
      'Residents have asked whether it could also be pointed at their tomatoes. It can, on Thursdays.',
    ],
  },
  {
    slug: 'glass-that-remembers',
    section: 'Science',
    title: 'The lens that remembers what it saw yesterday',
    lead: 'A workshop on Crane Island has made a glass that fades over twenty-four hours. Nobody knows yet what it is for. Everybody wants one.',
    author: 'Science desk',
    minutes: 5,
    art: 'lens',
    subscribersOnly: true,
    body: [
      'Hold it up to a room and you see the room. Hold it longer and you see, very faintly, the people who crossed it this morning, as a warmth in the air where they had been.',
      'The effect was a mistake, made by leaving a batch in the kiln over a long weekend. The workshop has repeated the mistake nineteen times and understands it twice.',
      'An architect has ordered one to find out how people really walk through a doorway. A grandmother has ordered one for her kitchen.',
    ],
  },
  {
    slug: 'stage-without-a-curtain',
    section: 'Stage',
    title: 'Opening tonight: a theatre in which you pass through the scene',
    lead: 'No rows, no curtain, no interval. You are handed a lantern at the door, and the play follows your light.',
    author: 'Stage desk',
    minutes: 4,
    art: 'stage',
    body: [
      'There are nine rooms and eight actors, so that one room is always empty, and it is never the same one. Our reviewer spent most of the evening in it, by accident, and says that it was the best.',
      'Runs until the lanterns are used up.',
    ],
  },
]

module.exports = articles
