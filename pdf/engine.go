package pdf

// engineNumber is raised by hand whenever the same plan, data and options give
// other bytes than before, for a reason that nothing else in Result.Engine
// shows.
const engineNumber = 11
